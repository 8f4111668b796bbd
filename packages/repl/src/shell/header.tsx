import type { ReplPanel } from "@gennai/client/host/repl-host";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon, type IconName } from "../look/icon.tsx";
import { SessionMenu } from "./session-menu.tsx";

const panels: readonly { readonly panel: ReplPanel; readonly label: string; readonly icon: IconName }[] = [
  { panel: "chat", label: "Chat", icon: "chat" },
  { panel: "review", label: "Review", icon: "diff" },
  { panel: "plan", label: "Plan", icon: "list" },
  { panel: "todos", label: "Todos", icon: "checklist" },
  { panel: "attempts", label: "Attempts", icon: "compare" },
  { panel: "checkpoints", label: "Checkpoints", icon: "discard" },
  { panel: "timeline", label: "Timeline", icon: "pulse" },
  { panel: "governance", label: "Governance", icon: "shield" },
  { panel: "prompt", label: "System prompt", icon: "note" },
];

/** The tabs of the app: the present panel, and the others. */
export function Header({ control }: { readonly control: ReplControl }) {
  const shown = control.panel.value;
  const view = control.followed.value?.view.value;
  const facts = view?.facts.value;
  const open = facts?.todos.filter(({ status }) => status !== "completed").length ?? 0;
  const running = control.stores.value.attempts?.sets.value?.some(({ isRunning }) => isRunning) === true;
  const emergency = facts?.emergency;
  const alarm = emergency !== undefined && (emergency.stopAll || emergency.readOnly || emergency.disableHighImpact);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = panels.findIndex(({ panel }) => panel === shown);
    const next = panels[(at + step + panels.length) % panels.length];
    if (next === undefined) return;
    control.panel.value = next.panel;
    document.getElementById(`tab-${next.panel}`)?.focus();
  };
  return (
    <header class="header">
      <div class="tabs" role="tablist" aria-label="Panels" onKeyDown={move}>
        {panels.map(({ panel, label, icon }) => (
          <button
            key={panel}
            id={`tab-${panel}`}
            type="button"
            role="tab"
            class="tab"
            title={label}
            aria-label={`${label}${panel === "todos" && open > 0 ? ` ${open}` : ""}${panel === "governance" && alarm ? " !" : ""}${panel === "attempts" && running ? ", running" : ""}`}
            aria-selected={panel === shown}
            aria-controls="panel"
            tabIndex={panel === shown ? 0 : -1}
            onClick={() => {
              control.panel.value = panel;
            }}
          >
            <Icon name={icon} />
            <span class="tab-label">{label}</span> {panel === "todos" && open > 0 && <span class="count">{open}</span>}
            {panel === "attempts" && running && <span class="count count-running" aria-hidden="true" />}
            {panel === "governance" && alarm && <span class="count count-bad">!</span>}
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
        onClick={() => control.newSession()}
      >
        <Icon name="add" />
      </button>
    </header>
  );
}

/** e.g. `Chat`. */
export function panelLabel(shown: ReplPanel): string {
  return panels.find(({ panel }) => panel === shown)?.label ?? "";
}
