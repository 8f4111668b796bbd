import type { ReplPanel } from "@gennai/client/host/host-messages";
import { useEffect, useState } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import type { RememberedDevices } from "../hosts/repl-host.ts";
import { failureOf } from "../look/failure.ts";
import { Icon, type IconName } from "../look/icon.tsx";
import { VisibleText } from "../look/visible-text.tsx";
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
  const running = control.stores.value.attempts?.state.value.sets?.some(({ isRunning }) => isRunning) === true;
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

type Listed = Awaited<ReturnType<RememberedDevices["list"]>>;

/** Browsers that come in without a link, so that a bookmark works: this one is remembered, or any is forgotten. */
function Devices({ devices }: { readonly devices: RememberedDevices }) {
  const [known, setKnown] = useState<{ readonly list: Listed; readonly own: string | undefined }>();
  const [problem, setProblem] = useState("");
  const after = (work: Promise<void>) =>
    work
      .then(async () => setKnown({ list: await devices.list(), own: await devices.own() }))
      .then(
        () => setProblem(""),
        (error: unknown) => setProblem(failureOf(error).message),
      );
  useEffect(() => void after(Promise.resolve()), [devices]);
  const isKnown = known?.list.some(({ id }) => id === known.own) === true;
  return (
    <section class="devices" aria-label="Remembered browsers">
      {known !== undefined && !isKnown && (
        <p>
          <button type="button" class="button button-quiet" onClick={() => void after(devices.remember())}>
            Remember this browser
          </button>{" "}
          <span class="quiet">A bookmark then opens the page without a link, for 30 days.</span>
        </p>
      )}
      {known?.list.map(({ id, name, used }) => (
        <p key={id}>
          <span>{id === known.own ? "This browser" : <VisibleText text={name} />}</span>{" "}
          <span class="quiet">last used {new Date(used).toLocaleString()}</span>{" "}
          <button
            type="button"
            class="link"
            aria-label={`Forget ${id === known.own ? "this browser" : name}`}
            onClick={() => void after(devices.forget(id))}
          >
            Forget
          </button>
        </p>
      ))}
      {problem !== "" && (
        <p class="tone-bad" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}
