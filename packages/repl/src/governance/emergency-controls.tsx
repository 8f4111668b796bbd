import type { EmergencyControl, EmergencyState } from "@gennai/protocol/model/governance/emergency";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { VisibleText } from "../look/visible-text.tsx";
import { ManagedLock, type ManagedPolicy } from "./managed-section.tsx";

export interface EmergencyControlsProps {
  readonly switches: EmergencyState;
  readonly busy: boolean;
  readonly managed: readonly ManagedPolicy[];
  readonly onSwitch: (
    control: EmergencyControl,
    enabled: boolean,
    details: { readonly tool: string; readonly reason: string },
  ) => void;
}

interface Lifting {
  readonly control: EmergencyControl;
  readonly tool: string;
  readonly word: string;
}

const controls: readonly {
  readonly control: Exclude<EmergencyControl, "block-tool">;
  readonly word: string;
  readonly says: string;
  readonly isOn: (switches: EmergencyState) => boolean;
  /** With which a policy switches it on for good. */
  readonly key?: string;
}[] = [
  {
    control: "stop-all",
    word: "Stop all",
    says: "All running work ends now, and no turn starts.",
    isOn: ({ stopAll }) => stopAll,
  },
  {
    control: "read-only",
    word: "Read-only",
    says: "Nothing changes anything any more.",
    isOn: ({ readOnly }) => readOnly,
    key: "emergency.read_only",
  },
  {
    control: "disable-high-impact",
    word: "Disable high-impact",
    says: "Actions of high risk are refused without a question.",
    isOn: ({ disableHighImpact }) => disableHighImpact,
    key: "emergency.disable_high_impact",
  },
];

function isSet(policies: readonly ManagedPolicy[], wanted: string): boolean {
  return policies.some(({ keys }) => keys.some(({ key, value }) => key === wanted && value === "true"));
}

/** Switches that take effect at once, for all work. Switching on takes one press; lifting one asks for a reason. */
export function EmergencyControls({ switches, busy, managed, onSwitch }: EmergencyControlsProps) {
  const [lifting, setLifting] = useState<Lifting>();
  const [tool, setTool] = useState("");
  const isBlocked = switches.blockedTools.includes(tool.trim());
  return (
    <section class="g-section" aria-labelledby="emergency-title">
      <h3 id="emergency-title">Emergency controls</h3>
      <ul class="emergency">
        {controls.map(({ control, word, says, isOn, key }) => {
          const isManaged = key !== undefined && isSet(managed, key);
          const on = isManaged || isOn(switches);
          return (
            <li key={control} class={on ? "emergency-on" : ""}>
              <span>
                <strong>{word}</strong>
                <span class="emergency-state">{on ? "ON" : "off"}</span>
                {key !== undefined && isManaged && <ManagedLock policies={managed} of={key} />}
                <span class="g-quiet">{says}</span>
              </span>
              <button
                type="button"
                role="switch"
                aria-checked={on}
                aria-label={word}
                class={on ? "button button-quiet" : "button button-danger"}
                disabled={busy || isManaged}
                onClick={() =>
                  on ? setLifting({ control, tool: "", word }) : onSwitch(control, true, { tool: "", reason: "" })
                }
              >
                {on ? "Lift…" : word}
              </button>
            </li>
          );
        })}
        <li class={switches.blockedTools.length > 0 ? "emergency-on" : ""}>
          <form
            class="emergency-block"
            onSubmit={(event) => {
              event.preventDefault();
              if (tool.trim() === "" || isBlocked) return;
              onSwitch("block-tool", true, { tool: tool.trim(), reason: "" });
              setTool("");
            }}
          >
            <label>
              <strong>Block a tool</strong>
              <input
                class="g-field"
                value={tool}
                placeholder="Bash, git, deploy…"
                onInput={(event) => setTool(event.currentTarget.value)}
              />
            </label>
            <button type="submit" class="button button-danger" disabled={busy || tool.trim() === "" || isBlocked}>
              Block
            </button>
          </form>
          {switches.blockedTools.length > 0 && (
            <ul class="g-paths" aria-label="Blocked tools">
              {switches.blockedTools.map((name) => (
                <li key={name} class="g-row">
                  <VisibleText in="code" text={name} />
                  <button
                    type="button"
                    class="button button-quiet"
                    disabled={busy}
                    aria-label={`Lift the block of ${name}`}
                    onClick={() => setLifting({ control: "block-tool", tool: name, word: `the block of ${name}` })}
                  >
                    Lift…
                  </button>
                </li>
              ))}
            </ul>
          )}
        </li>
      </ul>
      {lifting !== undefined && (
        <LiftForm
          key={`${lifting.control} ${lifting.tool}`}
          lifting={lifting}
          onLift={(reason) => {
            setLifting(undefined);
            onSwitch(lifting.control, false, { tool: lifting.tool, reason });
          }}
          onCancel={() => setLifting(undefined)}
        />
      )}
    </section>
  );
}

interface LiftFormProps {
  readonly lifting: Lifting;
  readonly onLift: (reason: string) => void;
  readonly onCancel: () => void;
}

function LiftForm({ lifting, onLift, onCancel }: LiftFormProps) {
  const id = useId();
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <form
      class="g-notice"
      aria-labelledby={id}
      onSubmit={(event) => {
        event.preventDefault();
        if (reason.trim() !== "") onLift(reason.trim());
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onCancel();
      }}
    >
      <p id={id}>
        Lift <VisibleText text={lifting.word} />? The agent can do again what it kept it from.
      </p>
      <div class="g-row">
        <input
          ref={field}
          class="g-field"
          aria-label="Why it is lifted"
          placeholder="Why (recorded)"
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        <button type="submit" class="button" disabled={reason.trim() === ""}>
          Lift
        </button>
        <button type="button" class="button button-quiet" onClick={onCancel}>
          Leave it on
        </button>
      </div>
    </form>
  );
}
