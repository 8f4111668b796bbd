import type { Plan } from "@gennai/client/plan";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import { useId, useState } from "preact/hooks";
import { VisibleText } from "../look/visible-text.tsx";
import { Digest } from "./digest.tsx";

export interface PlanApprovalProps {
  readonly plan: Plan;
  readonly onApprove: () => void;
  readonly onCancel: () => void;
}

/** A person's approval of one digest. Each step of high risk is named and must be ticked on its own. */
export function PlanApprovalForm({ plan, onApprove, onCancel }: PlanApprovalProps) {
  const id = useId();
  const high = plan.steps.filter(({ risk }) => isAtLeast(risk, "high"));
  const boxes =
    high.length > 0
      ? high.map((step) => ({ key: step.id, text: `High risk: ${step.title}` }))
      : [{ key: "all", text: "I looked at every action of this plan." }];
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const complete = boxes.every(({ key }) => ticked.has(key));
  const tick = (key: string, on: boolean) => {
    const after = new Set(ticked);
    if (on) after.add(key);
    else after.delete(key);
    setTicked(after);
  };
  return (
    <form
      class="plan-approval g-notice"
      aria-labelledby={id}
      onSubmit={(event) => {
        event.preventDefault();
        if (complete) onApprove();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onCancel();
      }}
    >
      <h4 id={id}>
        Approve “<VisibleText text={plan.title} />”
      </h4>
      <p>
        Exactly this plan, digest <Digest digest={plan.digest} of="the plan" />, may run once. High risk still asks when
        it comes to it.
      </p>
      {boxes.map(({ key, text }) => (
        <label key={key} class="plan-tick">
          <input
            type="checkbox"
            checked={ticked.has(key)}
            onChange={(event) => tick(key, event.currentTarget.checked)}
            // Enter in a checkbox must not submit: only the button does.
            onKeyDown={(event) => {
              if (event.key === "Enter") event.preventDefault();
            }}
          />
          <span>
            <VisibleText text={text} />
          </span>
        </label>
      ))}
      <div class="g-row">
        <button type="submit" class="g-button g-primary" disabled={!complete}>
          Approve
        </button>
        <button type="button" class="g-button" onClick={onCancel}>
          Not yet
        </button>
      </div>
    </form>
  );
}
