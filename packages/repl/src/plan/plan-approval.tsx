import type { Plan } from "@gennai/client/plan";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import { useState } from "preact/hooks";
import { VisibleText } from "../look/visible-text.tsx";

export interface PlanApprovalProps {
  readonly plan: Plan;
  readonly onApprove: () => void;
}

/** A person's approval of what is shown above. Each step of high risk is named and must be ticked on its own. */
export function PlanApprovalForm({ plan, onApprove }: PlanApprovalProps) {
  const boxes = plan.steps
    .filter(({ risk }) => isAtLeast(risk, "high"))
    .map((step) => ({ key: step.id, text: `High risk: ${step.title}` }));
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
      aria-label="Approval"
      onSubmit={(event) => {
        event.preventDefault();
        if (complete) onApprove();
      }}
    >
      <p class="g-quiet">
        Exactly this plan runs once, and is then verified. High risk still asks when it comes to it.
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
          <VisibleText in="span" text={text} />
        </label>
      ))}
      <div class="g-row">
        <button type="submit" class="g-button g-primary" disabled={!complete}>
          Approve and run
        </button>
      </div>
    </form>
  );
}
