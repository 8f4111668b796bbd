import { isAtLeast } from "@gennai/protocol/model/risk";
import { type ActionFacts, actionFacts } from "../answers/action-facts.ts";
import { type AnswerPattern, type AnswerPlace, patternsFor } from "../answers/answer-pattern.ts";
import { offeredPattern } from "../answers/offered-pattern.ts";
import type { Answer, Question } from "../confirmation.ts";
import { singleWriter } from "../policies/single-writer.ts";
import type { CallContext } from "../tool.ts";
import type { Finding } from "../verdict.ts";
import { buildQuestion, type QuestionContext } from "./build-question.ts";
import { type DecidedCall, decideCall } from "./decide-call.ts";
import { explainedRefusal } from "./explain-refusal.ts";
import type { ToolCall } from "./gate-journal.ts";
import { unobservedGate } from "./gate-observer.ts";
import type { GateOptions } from "./gate-options.ts";
import { type Decided, decisionOf, type Passage, refused, refusedByAnswer, settled, stopped } from "./passage.ts";
import { warn } from "./warn.ts";

/** Stages 1 to 5: decides, asks if it must, and after a yes decides again, because the world moved meanwhile. */
export async function admitCall(call: ToolCall, context: CallContext, options: GateOptions): Promise<Passage> {
  if (context.signal.aborted) return refused(call, undefined, stopped);
  try {
    const decided = await decideInLine(call, context, options);
    report(decided, context.turnId, options);
    if (decided.type === "invalid" || decided.verdict.type === "allow") return settled(decided);
    if (decided.verdict.type === "deny") return await explainedRefusal(settled(decided), decided, context, options);

    const asked = askAbout(decided, decided.verdict.finding, context.turnId, options);
    const { question } = asked;
    const answer = await answerTo(asked, context, options);
    if (answer.type !== "yes") return refusedByAnswer(decided, answer);

    const again = await decide(call, context, options);
    if (again.type === "invalid" || again.verdict.type === "deny") {
      report(again, context.turnId, options);
      return again.type === "invalid"
        ? settled(again)
        : await explainedRefusal(settled(again), again, context, options);
    }
    // A yes holds for the action it was given for. If the same call now means something else, nobody agreed to that.
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

/** Decides, and where nothing but another session's turn stands against the call, waits for its end and decides again. */
async function decideInLine(call: ToolCall, context: CallContext, options: GateOptions): Promise<DecidedCall> {
  const decided = await decide(call, context, options);
  if (options.waitForTree === undefined || decided.type === "invalid") return decided;
  const denials = decided.fired.filter(({ verdict }) => verdict.type === "deny");
  if (denials.length === 0 || denials.some(({ policy }) => policy !== singleWriter)) return decided;
  await options.waitForTree(context.signal);
  // Files may have changed meanwhile, and rules.
  return decide(call, context, options);
}

function decide(call: ToolCall, context: CallContext, options: GateOptions): Promise<DecidedCall> {
  const { observer = unobservedGate } = options;
  return observer.decide(() => decideCall(call, context, options));
}

interface AskedAction {
  readonly question: Question;
  readonly facts: ActionFacts;
  readonly place: AnswerPlace;
  readonly patterns: readonly AnswerPattern[];
}

function askAbout(decided: Decided, finding: Finding, turnId: string, options: GateOptions): AskedAction {
  const { sessionId, policySha256, isolation, remembered } = options;
  const question = buildQuestion(decided, finding, questionContext(turnId, options));
  const facts = factsOf(decided);
  const place = { sessionId, policySha256, isolation: isolation ?? "" };
  const patterns = question.offeredScopes.length > 1 ? patternsFor(facts, place) : [];
  const earlier = remembered.earlier.filter(({ callId }) => callId !== facts.callId);
  const offered = patterns.map((pattern) => offeredPattern(pattern, earlier));
  const withPatterns = offered.length === 0 ? question : { ...question, patterns: offered };
  return { facts, place, patterns, question: withLasting(withPatterns, options) };
}

/** The same question, with a yes for the workspace among its answers where one is kept. */
function withLasting(question: Question, { lasting }: GateOptions): Question {
  const statement = isAtLeast(question.computed.risk, "high") ? undefined : lasting?.offer(question);
  if (statement === undefined) return question;
  const { offeredScopes, rememberStatement } = question;
  return {
    ...question,
    offeredScopes: [...offeredScopes, "workspace"],
    rememberStatement: `${rememberStatement} ${statement}`,
  };
}

/** A remembered answer, or a person's, which is remembered as it says. */
async function answerTo(asked: AskedAction, context: CallContext, options: GateOptions): Promise<Answer> {
  const { question, patterns } = asked;
  const { remembered, confirmer } = options;
  const known = remembered.find(question, asked) ?? (await lastingAnswer(asked, options));
  if (known !== undefined) return known;
  const answer = await confirmer.ask(question, { signal: context.signal });
  if (answer.type !== "yes") return answer;
  const pattern = patterns.find(({ id }) => id === answer.pattern);
  if (answer.pattern !== undefined && pattern === undefined) {
    return { type: "no", reason: "The pattern that was answered for was not offered for this action.", by: answer.by };
  }
  if (answer.scope === "workspace") await options.lasting?.remember(question, asked.facts.rules);
  else remembered.remember(question, answer.scope, pattern);
  return answer;
}

async function lastingAnswer({ question, facts }: AskedAction, { lasting }: GateOptions): Promise<Answer | undefined> {
  if (lasting === undefined || !question.offeredScopes.includes("workspace")) return undefined;
  const found = await lasting.find(question, facts.rules);
  if (found === undefined) return undefined;
  return { type: "yes", scope: "workspace", by: "remembered", remembered: found };
}

/** The record names the pattern a yes was given for; text of it may be masked. */
async function withPattern(
  decision: Passage["decision"],
  answer: Answer & { readonly type: "yes" },
  { patterns }: AskedAction,
  { redactor }: GateOptions,
): Promise<Passage["decision"]> {
  const { confirmation } = decision;
  const text = answer.remembered?.pattern ?? patterns.find(({ id }) => id === answer.pattern)?.text;
  if (confirmation === undefined || text === undefined) return decision;
  return { ...decision, confirmation: { ...confirmation, pattern: await redactor.redact(text) } };
}

function report(decided: DecidedCall, turnId: string, { journal, remembered }: GateOptions): void {
  if (decided.type === "decided") {
    for (const warning of decided.warnings) journal.warn(warning, turnId);
    const facts = factsOf(decided);
    if (facts.shape !== undefined) remembered.saw(facts);
  }
  journal.decided(decisionOf(decided, undefined), turnId);
}

function factsOf({ call, tool, analysis, verdict, fired, risk }: Decided): ActionFacts {
  return actionFacts({ callId: call.id, tool: tool.name, analysis, verdict, fired, risk });
}

function questionContext(turnId: string, { policySha256, intent, isolation }: GateOptions): QuestionContext {
  return { turnId, policySha256, intent: intent?.(), isolation };
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
