import { envelopeProblem } from "@gennai/client/plan-guard";
import { envelopeWords } from "@gennai/client/session-plans";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import { CopyButton } from "../look/copy-button.tsx";
import { ProblemNotice } from "../look/problem-notice.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import { useIsWide } from "../review/use-is-wide.ts";
import { Digest } from "./digest.tsx";
import { EnvelopeView } from "./envelope-view.tsx";
import { type PlanAct, planChecks } from "./plan-checks.ts";
import { PlanFactsRow, PlanStates } from "./plan-states.tsx";
import { PlanSteps } from "./plan-steps.tsx";
import type { PlanBusy, PlanStore, RejectedOutput } from "./plan-store.ts";

export interface PlanPanelProps {
  readonly store: PlanStore;
  /** Initial text of the request, e.g. what the user wrote last. */
  readonly request?: string;
}

const busyWords: Record<PlanBusy, string> = {
  plan: "The model writes a plan…",
  preview: "Looking at what it would do…",
  approve: "Approving…",
  execute: "Executing…",
  verify: "Verifying…",
  rollback: "Undoing…",
};

/** Plans: written and looked at; a person approves what is shown, and it runs and is verified. */
export function PlanPanel({ store, request = "" }: PlanPanelProps) {
  const view = store.state.value;
  const { plan, plans, rejected, busy, problem, shown, results } = view;
  const root = useRef<HTMLElement>(null);
  const sideBySide = useIsWide(root);
  useExpiry(view.approval?.expires);
  useEffect(() => void store.load(), [store]);
  const checks = planChecks(store.facts);
  const acts: readonly { readonly act: PlanAct; readonly word: string; readonly run: () => void }[] = [
    { act: "preview", word: "Look again", run: () => void store.preview() },
    // Where a run did not begin, or its check did not.
    { act: "execute", word: "Execute", run: () => void store.execute() },
    { act: "verify", word: "Verify", run: () => void store.verify() },
    { act: "rollback", word: "Rollback", run: () => void store.rollback() },
  ];
  return (
    <section ref={root} class="plan g-panel" aria-label="Plan">
      <RequestForm
        initial={request}
        goal={view.goal}
        busy={busy !== undefined}
        onPlan={(text) => void store.plan(text)}
      />
      <p class="g-quiet plan-busy" role="status">
        {busy === undefined ? "" : busyWords[busy]}
      </p>
      {problem !== undefined && <ProblemNotice problem={problem} onDismiss={() => store.dismiss()} />}
      {rejected !== undefined && <Rejected {...{ rejected, busy: busy !== undefined }} store={store} />}
      {plans.length > 1 && (
        <label class="plan-choice">
          <span>Plan</span>
          <select
            class="g-field"
            value={plan?.planId}
            onChange={(event) => void store.select(event.currentTarget.value)}
          >
            {plans.map(({ planId, title, state }) => (
              <option key={planId} value={planId}>
                {title === "" ? planId : title} ({state.replaceAll("_", " ")})
              </option>
            ))}
          </select>
        </label>
      )}
      {plan === undefined ? (
        rejected === undefined && <p class="empty">No plan yet. Say what is to be done, and the model writes one.</p>
      ) : (
        <>
          <header class="plan-head">
            <VisibleText in="h3" text={plan.title} />
            <Digest digest={plan.digest} of="the plan" />
          </header>
          <PlanStates state={plan.state} />
          {plan.summary !== "" && <VisibleText in="p" text={plan.summary} />}
          <PlanFactsRow plan={plan} />
          {plan.remediation !== "" && <VisibleText in="p" class="g-notice" text={plan.remediation} />}
          {envelopeProblem(plan) !== undefined && (
            <p class="g-notice g-notice-bad" role="alert">
              {envelopeProblem(plan)} Nothing of it can be sent from here.
            </p>
          )}
          <div class="plan-acts" role="group" aria-label="What to do with the plan">
            {acts
              .filter(({ act }) => checks[act].allowed)
              .map(({ act, word, run }) => (
                <button key={act} type="button" class="button button-quiet" onClick={run}>
                  {word}
                </button>
              ))}
          </div>
          {view.approval?.planId === plan.planId && view.approval.expires !== undefined && (
            <p class="g-quiet">Approved until {view.approval.expires.toLocaleTimeString()}.</p>
          )}
          <PlanSteps
            {...{ plan, shown, results, sideBySide }}
            busy={busy !== undefined}
            onSubmit={(planJson) => void store.submit(planJson)}
          />
          {plan.state === "awaiting_approval" && view.approval === undefined && !checks.approve.allowed && (
            <p class="g-notice">{checks.approve.reason}</p>
          )}
          {checks.approve.allowed && (
            <PlanApprovalForm key={plan.digest} plan={plan} onApprove={() => void store.approveAndRun()} />
          )}
          <EnvelopeView
            key={plan.digest}
            text={plan.planJson}
            summary="Plan as JSON"
            busy={busy !== undefined}
            onSubmit={(text) => void store.submit(text)}
          />
        </>
      )}
    </section>
  );
}

/** Draws again when an approval expires, so that nothing stays enabled by it. */
function useExpiry(expires: Date | undefined): void {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (expires === undefined) return undefined;
    const timer = setTimeout(() => draw(undefined), Math.max(0, expires.getTime() - Date.now()) + 50);
    return () => clearTimeout(timer);
  }, [expires]);
}

interface RequestFormProps {
  readonly initial: string;
  readonly goal: string | undefined;
  readonly busy: boolean;
  readonly onPlan: (text: string) => void;
}

function RequestForm({ initial, goal, busy, onPlan }: RequestFormProps) {
  const [text, setText] = useState(goal ?? initial);
  useEffect(() => void (goal !== undefined && setText(goal)), [goal]);
  return (
    <form
      class="plan-request"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "" && !busy) onPlan(text.trim());
      }}
    >
      <textarea
        class="g-field"
        rows={2}
        aria-label="What is to be planned"
        placeholder="What is to be done?"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="submit" class="button button-quiet" disabled={busy || text.trim() === ""}>
        Plan
      </button>
    </form>
  );
}

function Rejected(props: { readonly rejected: RejectedOutput; readonly busy: boolean; readonly store: PlanStore }) {
  const { rejected, busy, store } = props;
  const isChat = rejected.issues.length === 0;
  const chatWords =
    rejected.envelopeKind === "error" ? "The model says that it cannot be done." : "The model answered without a plan.";
  return (
    <div class="g-notice g-notice-bad plan-rejected" role="alert">
      <p>
        <strong>{isChat ? chatWords : "The output is not a valid plan."}</strong>{" "}
        {isChat && <VisibleText text={envelopeWords(rejected.raw)} />}
      </p>
      {!isChat && (
        <table class="plan-issues" aria-label="Issues">
          <thead>
            <tr>
              <th scope="col">Where</th>
              <th scope="col">What</th>
            </tr>
          </thead>
          <tbody>
            {rejected.issues.map(({ path, message, level }, index) => (
              <tr key={index}>
                <td>
                  <code>{path === "" ? "whole" : <VisibleText text={path} />}</code>
                </td>
                <td>
                  <VisibleText text={message} /> <span class="g-quiet">({level})</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div class="g-row">
        {!isChat && (
          <button type="button" class="button" disabled={busy} onClick={() => void store.regenerate()}>
            Regenerate (strict)
          </button>
        )}
        <CopyIssues rejected={rejected} />
      </div>
      <EnvelopeView
        text={rejected.raw}
        summary="What the model wrote"
        busy={busy}
        onSubmit={(text) => void store.submit(text)}
      />
    </div>
  );
}

function CopyIssues({ rejected }: { readonly rejected: RejectedOutput }) {
  const lines = rejected.issues.map(({ path, message, level }) => `${level} ${path}: ${message}`);
  return <CopyButton text={[...lines, "", rejected.raw].join("\n")} label="Copy Details" />;
}

interface PlanApprovalProps {
  readonly plan: Plan;
  readonly onApprove: () => void;
}

/** A person's approval of what is shown above. Each step of high risk is named and must be ticked on its own. */
function PlanApprovalForm({ plan, onApprove }: PlanApprovalProps) {
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
        <button type="submit" class="button" disabled={!complete}>
          Approve and run
        </button>
      </div>
    </form>
  );
}
