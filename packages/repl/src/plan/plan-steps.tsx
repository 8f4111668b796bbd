import type { Plan, PlanStep } from "@gennai/protocol/model/governance/plan";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import type { VerificationResult } from "@gennai/protocol/model/governance/verification-result";
import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";
import { RiskMark } from "../confirmation/risk-mark.tsx";
import { Fact } from "../look/fact.tsx";
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
        <VisibleText in="h4" text={step.title} />
        <span class={`plan-step-state plan-step-state-${step.state}`}>{stateWords[step.state]}</span>
        <RiskMark risk={step.risk} />
        {step.requiresConfirmation && step.state === "pending" && (
          <span class="badge">{isAtLeast(step.risk, "high") ? "will" : "may"} ask before it runs</span>
        )}
      </header>
      {step.description !== "" && <VisibleText in="p" text={step.description} />}
      <dl class="g-facts">
        {step.tool !== "" && (
          <Fact name="Tool">
            <VisibleText in="code" text={step.tool} />
          </Fact>
        )}
        {step.dependsOn.length > 0 && (
          <Fact name="After">
            <VisibleText text={step.dependsOn.join(", ")} />
          </Fact>
        )}
        <Fact name="Verified by">
          {step.verificationPlan.length === 0 ? (
            <span class="g-quiet">nothing: success cannot be claimed</span>
          ) : (
            <ul class="g-paths">
              {step.verificationPlan.map((command) => (
                <li key={command}>
                  <VisibleText in="code" text={command} />
                </li>
              ))}
            </ul>
          )}
        </Fact>
        {step.failureClass !== "" && (
          <Fact name="Failure">
            <VisibleText in="code" text={step.failureClass} />
          </Fact>
        )}
      </dl>
      {step.evidence !== "" && (
        <details>
          <summary>Output</summary>
          <VisibleText in="pre" class="g-code" tabIndex={0} text={step.evidence} />
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
      <VisibleText in="pre" class="g-code" tabIndex={0} text={result.output} />
    </details>
  );
}
