import { singleWriter } from "../../policies/files/single-writer.ts";
import type { CallContext } from "../../tool.ts";
import { type AdmittedCall, decisionOf, refused, refusedByAnswer, settled, stopped } from "../decide/admitted-call.ts";
import { type DecidedCall, decideCall } from "../decide/decide-call.ts";
import { unobservedGate } from "../decide/gate-observer.ts";
import { warn } from "../decide/warn.ts";
import type { ToolCall } from "../gate-journal.ts";
import type { GateOptions } from "../gate-options.ts";
import { answerTo, askAbout, factsOf, questionContext, withPattern } from "./ask-person.ts";
import { buildQuestion } from "./build-question.ts";
import { explainedRefusal } from "./explain-refusal.ts";

/** Stages 1 to 5: decides, asks if needed, and after a yes decides again, because things may have changed. */
export async function admitCall(call: ToolCall, context: CallContext, options: GateOptions): Promise<AdmittedCall> {
  if (context.signal.aborted) return refused(call, undefined, stopped);
  try {
    const decided = await decideInLine(call, context, options);
    report(decided, context.turnId, options);
    if (decided.type === "invalid" || decided.verdict.type === "allow") return settled(decided);
    if (decided.verdict.type === "deny") return await explainedRefusal(settled(decided), decided, context, options);

    const asked = askAbout(decided, decided.verdict.finding, context.turnId, options);
    const { question } = asked;
    const answer = await answerTo(asked, context, options);
    // Only calls that another agent runs are passed on: for our own tools, nobody else could still refuse.
    const isPassedOn = answer.type === "passed-on" && decided.tool.runBy === "host";
    if (answer.type !== "yes" && !isPassedOn) return refusedByAnswer(decided, answer);

    const again = await decide(call, context, options);
    if (again.type === "invalid" || again.verdict.type === "deny") {
      report(again, context.turnId, options);
      return again.type === "invalid"
        ? settled(again)
        : await explainedRefusal(settled(again), again, context, options);
    }
    // A yes covers the action it was given for. If the call now means something else, nobody agreed to it.
    const changed = buildQuestion(again, decided.verdict.finding, questionContext(context.turnId, options));
    const sameRules = factsOf(again).rules.every((rule) => asked.facts.rules.includes(rule));
    if (changed.actionSha256 !== question.actionSha256 || again.risk !== decided.risk || !sameRules) {
      return refused(call, again, changedAfterApproval);
    }
    const decision = await withPattern(decisionOf(again, answer), answer, asked, options);
    return { decision, decided: again, refusal: undefined };
  } catch (error) {
    if (context.signal.aborted) return refused(call, undefined, stopped);
    await warn(`The gate could not decide about ${call.name}`, error, context.turnId, options);
    return refused(call, undefined, gateFailed);
  }
}

/** Decides; if only another session's turn prevents the call, waits for its end and decides again. */
async function decideInLine(call: ToolCall, context: CallContext, options: GateOptions): Promise<DecidedCall> {
  const decided = await decide(call, context, options);
  if (options.waitForTree === undefined || decided.type === "invalid") return decided;
  const denials = decided.fired.filter(({ verdict }) => verdict.type === "deny");
  if (denials.length === 0 || denials.some(({ policy }) => policy !== singleWriter)) return decided;
  await options.waitForTree(context.signal);
  // Files and rules may have changed meanwhile.
  return decide(call, context, options);
}

function decide(call: ToolCall, context: CallContext, options: GateOptions): Promise<DecidedCall> {
  const { observer = unobservedGate } = options;
  return observer.decide(() => decideCall(call, context, options));
}

function report(decided: DecidedCall, turnId: string, { journal, remembered }: GateOptions): void {
  if (decided.type === "decided") {
    for (const warning of decided.warnings) journal.warn(warning, turnId);
    const facts = factsOf(decided);
    if (facts.shape !== undefined) remembered.saw(facts);
  }
  journal.decided(decisionOf(decided, undefined), turnId);
}

const changedAfterApproval = {
  error: {
    code: "changed_after_approval",
    message: "What this call would do changed while it was being approved, so it did not run.",
    rule: "gate/confirm",
    hint: "Call it again.",
    retryable: true,
  },
  failureClass: "permission_denied",
} as const;

const gateFailed = {
  error: {
    code: "gate_failed",
    message: "The gate could not decide about this call, so it did not run.",
    rule: "gate/failure",
    retryable: false,
  },
  failureClass: "permission_denied",
} as const;
