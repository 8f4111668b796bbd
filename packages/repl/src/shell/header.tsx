import type { ReplPanel } from "@gennai/client/host/host-messages";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon, type IconName } from "../look/icon.tsx";
import { Devices } from "./devices.tsx";
import { SessionMenu } from "./session-menu.tsx";

interface Place {
  readonly panel: ReplPanel;
  readonly label: string;
  readonly icon: IconName;
}

const places: readonly Place[] = [
  { panel: "chat", label: "Chat", icon: "chat" },
  { panel: "review", label: "Review", icon: "diff" },
  { panel: "more", label: "More", icon: "more" },
];

/** What stands below More. */
const others: readonly (Place & { readonly about: string })[] = [
  { panel: "plan", label: "Plan", icon: "list", about: "steps that you approve before they run" },
  { panel: "todos", label: "Todos", icon: "checklist", about: "what the agent still has to do" },
  { panel: "attempts", label: "Attempts", icon: "compare", about: "one prompt, tried several times" },
  { panel: "checkpoints", label: "Checkpoints", icon: "discard", about: "go back to before a prompt" },
  {
    panel: "governance",
    label: "Governance",
    icon: "shield",
    about: "rules, intents, emergency controls, MCP servers",
  },
  { panel: "timeline", label: "Timeline", icon: "pulse", about: "what was done, asked and refused, signed" },
  { panel: "prompt", label: "System prompt", icon: "note", about: "what the model is told first" },
];

/** The three places of the app: the present one, and the others. */
export function Header({ control }: { readonly control: ReplControl }) {
  const shown = placeOf(control.panel.value);
  const marks = marksOf(control);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = places.findIndex(({ panel }) => panel === shown);
    const next = places[(at + step + places.length) % places.length];
    if (next === undefined) return;
    control.panel.value = next.panel;
    document.getElementById(`tab-${next.panel}`)?.focus();
  };
  return (
    <header class="header">
      <div class="tabs" role="tablist" aria-label="Panels" onKeyDown={move}>
        {places.map(({ panel, label, icon }) => (
          <button
            key={panel}
            id={`tab-${panel}`}
            type="button"
            role="tab"
            class="tab"
            aria-selected={panel === shown}
            aria-controls="panel"
            tabIndex={panel === shown ? 0 : -1}
            onClick={() => {
              control.panel.value = panel;
            }}
          >
            <Icon name={icon} />
            {label}
            {panel === "more" && marks.map((mark) => <Mark key={mark.panel} {...mark} />)}
          </button>
        ))}
      </div>
      <span class="space" />
      <SessionMenu control={control} />
      <button
        type="button"
        class="tool-button"
        title="New session"
        aria-label="New session"
        onClick={() => {
          control.newSession();
          // The keyboard of a phone would cover half of the screen.
          if (matchMedia("(pointer: fine)").matches) control.turns.draftAdditions.value++;
        }}
      >
        <Icon name="add" />
      </button>
    </header>
  );
}

/** e.g. `Chat`. */
export function panelLabel(shown: ReplPanel): string {
  return [...places, ...others].find(({ panel }) => panel === shown)?.label ?? "";
}

/** e.g. `more` for the timeline. */
export function placeOf(panel: ReplPanel): ReplPanel {
  return places.some((place) => place.panel === panel) ? panel : "more";
}

/** The list of what is looked at now and then. */
export function More({ control }: { readonly control: ReplControl }) {
  const marks = marksOf(control);
  return (
    <div class="more">
      {others.map(({ panel, label, icon, about }) => (
        <button
          key={panel}
          type="button"
          class="more-entry"
          onClick={() => {
            control.panel.value = panel;
          }}
        >
          <Icon name={icon} />
          <strong>{label}</strong>
          {marks
            .filter((mark) => mark.panel === panel)
            .map((mark) => (
              <Mark key={panel} {...mark} />
            ))}
          <span class="quiet">{about}</span>
        </button>
      ))}
      <label class="more-details" title="The key d, in the conversation, does the same">
        <input
          type="checkbox"
          checked={control.details.value}
          onChange={({ currentTarget }) => {
            control.details.value = currentTarget.checked;
          }}
        />
        Show verdicts, steps in the editor, and where lines are today, in the conversation
      </label>
      {control.host.devices !== undefined && <Devices devices={control.host.devices} />}
    </div>
  );
}

interface MarkOf {
  readonly panel: ReplPanel;
  readonly words: string;
  readonly look: "" | "count-running" | "count-bad";
}

/** What calls for a look below More. */
function marksOf(control: ReplControl): readonly MarkOf[] {
  const facts = control.followed.value?.view.value.facts.value;
  const open = facts?.todos.filter(({ status }) => status !== "completed").length ?? 0;
  const running = control.stores.value.attempts?.sets.value?.some(({ isRunning }) => isRunning) === true;
  const { stopAll, readOnly, disableHighImpact } = facts?.emergency ?? {};
  const alarm = stopAll === true || readOnly === true || disableHighImpact === true;
  return [
    ...(open > 0 ? [{ panel: "todos", words: `${open}`, look: "" } as const] : []),
    ...(running ? [{ panel: "attempts", words: "running", look: "count-running" } as const] : []),
    ...(alarm ? [{ panel: "governance", words: "!", look: "count-bad" } as const] : []),
  ];
}

function Mark({ words, look }: MarkOf) {
  return <span class={`count ${look}`}>{look === "count-running" ? <span class="spoken">{words}</span> : words}</span>;
}
