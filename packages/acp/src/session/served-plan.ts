import {
  methods,
  type PlanEntry,
  type RequestPermissionRequest,
  type SessionUpdate,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import { fencedText } from "@gennai/client/session/text/fenced-text";
import type { SessionPlans } from "@gennai/client/session-plans";
import { envelopeWords } from "@gennai/client/session-plans";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";
import { issueLine } from "@gennai/protocol/plan-correction";
import type { EditorPeer } from "../editor/acp-editor.ts";
import { unlessWithdrawn } from "../editor/withdrawn-request.ts";

export interface PlanPorts {
  readonly plans: SessionPlans;
  readonly editor: EditorPeer;
  /** Aborts when the editor's user stops, or the editor goes. */
  readonly signal: AbortSignal;
  readonly tell: (updates: readonly SessionUpdate[]) => Promise<void>;
  readonly say: (text: string) => Promise<void>;
  /** Tells what happens in the session meanwhile, and answers what the server asks. */
  readonly attended: <Value>(work: () => Promise<Value>) => Promise<Value>;
}

/** Shows what the model wrote as a plan, asks about exactly that, and has it run and verified after a yes. */
export async function decidePlan(written: string, ports: PlanPorts): Promise<void> {
  const { plans, say, tell, signal } = ports;
  const { plan: draft, issues } = await plans.submit(written, { signal });
  if (draft === undefined) {
    const why = issues.map((issue) => `- ${spelledOut(issueLine(issue))}`).join("\n");
    // A model may answer in words, that it has a question or sees nothing to do.
    return say(
      issues.length === 0 ? spelledOut(envelopeWords(written)) : `That is not a plan that can be approved:\n${why}`,
    );
  }
  const { plan, actions } = await plans.preview(draft.planId, { signal });
  await tell([{ sessionUpdate: "plan", entries: plan.steps.map(entryOf) }]);
  await say(planText(plan, actions));
  if (plan.state === "preview") return say("The rules refuse part of this plan, so that it cannot be approved.");
  if (!(await isApproved(plan, actions, ports)))
    return say(`Nothing was run. The plan stays: \`gennai plan approve ${plan.planId}\` runs it later.`);
  const { planId, digest } = plan;
  const { approvalToken } = await plans.approve(planId, digest, { signal });
  const end = await ports.attended(async () => {
    const run = await plans.execute(planId, digest, approvalToken, { signal });
    return run.executed ? (await plans.verify(planId, digest, approvalToken, { signal })).plan : run;
  });
  await tell([{ sessionUpdate: "plan", entries: end.steps.map(entryOf) }]);
  const facts = [end.executed ? "executed" : "not executed", end.verified ? "verified" : "not verified"];
  await say(`\n\nThe plan is ${facts.join(", ")}. ${spelledOut(end.remediation)}`.trimEnd());
}

async function isApproved(plan: Plan, actions: readonly PlannedAction[], ports: PlanPorts): Promise<boolean> {
  const { editor, signal, plans } = ports;
  const question: RequestPermissionRequest = {
    sessionId: plans.sessionId,
    toolCall: {
      toolCallId: plan.planId,
      title: spelledOut(`Run the plan: ${plan.title}`),
      kind: "other",
      content: [text(planText(plan, actions))],
    },
    options: [
      { optionId: "run", name: "Run it", kind: "allow_once" },
      { optionId: "leave", name: "Do not run it", kind: "reject_once" },
    ],
  };
  const { outcome } = await unlessWithdrawn(
    editor.request(methods.client.session.requestPermission, question, { cancellationSignal: signal }),
    signal,
  );
  return outcome.outcome === "selected" && outcome.optionId === "run";
}

/** Every action whole: what is approved is what is shown. */
function planText({ title, summary, digest }: Plan, actions: readonly PlannedAction[]): string {
  const shown = actions.map(({ change, command, cwd, verdict, risk, reason }) => {
    const about = change === undefined ? "Run" : `${change.operation} ${change.path}`;
    const exactly =
      change === undefined
        ? fencedText(spelledOut(`${command}${cwd === "" ? "" : `\nin ${cwd}`}`), "sh")
        : fencedText(spelledOut(change.unifiedDiff), "diff");
    const why = reason === "" ? "" : `\n\n${fencedText(spelledOut(reason))}`;
    return `**${verdict}, ${risk} risk**\n\n${fencedText(spelledOut(about))}\n\n${exactly}${why}`;
  });
  const head = [title, summary].filter((words) => words !== "").join("\n");
  return [fencedText(spelledOut(head)), ...shown, `SHA-256 \`${digest}\``].join("\n\n");
}

function entryOf({ title, description, state, risk }: Plan["steps"][number]): PlanEntry {
  const status = state === "running" ? "in_progress" : state === "pending" ? "pending" : "completed";
  return {
    content: spelledOut(title || description),
    status,
    priority: isAtLeast(risk, "high") ? "high" : isAtLeast(risk, "medium") ? "medium" : "low",
  };
}

function text(markdown: string): ToolCallContent {
  return { type: "content", content: { type: "text", text: markdown } };
}
