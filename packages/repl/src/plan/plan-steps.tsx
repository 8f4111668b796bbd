import type { Plan, PlanStep } from "@gennai/client/plan";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import type { VerificationResult } from "@gennai/protocol/model/governance/verification-result";
import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";
import { RiskMark } from "../confirmation/risk-mark.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import { ActionEditor } from "./action-editor.tsx";
import { ActionView } from "./action-view.tsx";
import { editableAction, withEditedAction } from "./edit-action.ts";
import type { PlanFacts } from "./plan-checks.ts";
import { actionsOf } from "./plan-store.ts";

export interface PlanStepsProps {
  readonly plan: Plan;
  readonly shown: PlanFacts["shown"];
  readonly results: readonly VerificationResult[];
  readonly sideBySide: boolean;
  readonly busy: boolean;
  /** Submits a new plan. */
  readonly onSubmit: (planJson: string) => void;
}

const stateWords: Record<PlanStep["state"], string> = {
  pending: "pending",
  running: "running",
  executed: "executed",
  failed: "failed",
  skipped: "skipped",
};

/** The steps of a plan in order, each with what it would do and its result. */
export function PlanSteps({ plan, shown, results, sideBySide, busy, onSubmit }: PlanStepsProps) {
  return (
    <ol class="plan-steps" aria-label="Steps">
      {plan.steps.map((step) => (
        <Step
          key={step.id}
          {...{ step, sideBySide, busy, onSubmit }}
          planJson={plan.planJson}
          actions={actionsOf(shown, step.id)}
          results={results.filter(({ stepId }) => stepId === step.id)}
        />
      ))}
    </ol>
  );
}

interface StepProps {
  readonly step: PlanStep;
  readonly actions: readonly PlannedAction[];
  readonly results: readonly VerificationResult[];
  readonly sideBySide: boolean;
  readonly planJson: string;
  readonly busy: boolean;
  readonly onSubmit: (planJson: string) => void;
}

function Step({ step, actions, results, sideBySide, planJson, busy, onSubmit }: StepProps) {
  return (
    <li class={`plan-step plan-step-${step.state}`}>
      <header class="plan-step-head">
        <h4>
          <VisibleText text={step.title} />
        </h4>
        <span class={`plan-step-state plan-step-state-${step.state}`}>{stateWords[step.state]}</span>
        <RiskMark risk={step.risk} />
        {step.requiresConfirmation && step.state === "pending" && (
          <span class="g-badge">{isAtLeast(step.risk, "high") ? "will" : "may"} ask before it runs</span>
        )}
      </header>
      {step.description !== "" && (
        <p>
          <VisibleText text={step.description} />
        </p>
      )}
      <dl class="g-facts">
        {step.tool !== "" && (
          <div>
            <dt>Tool</dt>
            <dd>
              <code>
                <VisibleText text={step.tool} />
              </code>
            </dd>
          </div>
        )}
        {step.dependsOn.length > 0 && (
          <div>
            <dt>After</dt>
            <dd>
              <VisibleText text={step.dependsOn.join(", ")} />
            </dd>
          </div>
        )}
        <div>
          <dt>Verified by</dt>
          <dd>
            {step.verificationPlan.length === 0 ? (
              <span class="g-quiet">nothing: success cannot be claimed</span>
            ) : (
              <ul class="g-paths">
                {step.verificationPlan.map((command) => (
                  <li key={command}>
                    <code>
                      <VisibleText text={command} />
                    </code>
                  </li>
                ))}
              </ul>
            )}
          </dd>
        </div>
        {step.failureClass !== "" && (
          <div>
            <dt>Failure</dt>
            <dd>
              <code>
                <VisibleText text={step.failureClass} />
              </code>
            </dd>
          </div>
        )}
      </dl>
      {step.evidence !== "" && (
        <details>
          <summary>Output</summary>
          <pre class="g-code" tabIndex={0}>
            <VisibleText text={step.evidence} />
          </pre>
        </details>
      )}
      {results.map((result) => (
        <Result key={result.command} result={result} />
      ))}
      {actions.length > 0 && (
        <details open={actions.length <= 4}>
          <summary>{actions.length === 1 ? "1 action" : `${actions.length} actions`}</summary>
          {actions.map((action) => (
            <ActionView key={action.actionIndex} {...{ action, sideBySide }}>
              <EditAction {...{ planJson, action, busy, onSubmit }} />
            </ActionView>
          ))}
        </details>
      )}
    </li>
  );
}

interface EditActionProps extends Pick<StepProps, "planJson" | "busy" | "onSubmit"> {
  readonly action: PlannedAction;
}

function EditAction({ planJson, action: { stepId, actionIndex }, busy, onSubmit }: EditActionProps) {
  const editable = editableAction(planJson, stepId, actionIndex);
  if (editable === undefined) return null;
  return (
    <ActionEditor
      action={editable}
      busy={busy}
      onSubmit={(text) => onSubmit(withEditedAction(planJson, stepId, actionIndex, text))}
    />
  );
}

function Result({ result }: { readonly result: VerificationResult }) {
  const exit = result.exitCode === undefined ? "exit code unknown" : `exit code ${result.exitCode}`;
  return (
    <details
      class={result.passed ? "plan-result plan-result-passed" : "plan-result plan-result-failed"}
      open={!result.passed}
    >
      <summary>
        {result.passed ? "Passed" : "Failed"}: <VisibleText text={result.command} />{" "}
        <span class="g-quiet">({exit})</span>
      </summary>
      <pre class="g-code" tabIndex={0}>
        <VisibleText text={result.output} />
      </pre>
    </details>
  );
}
