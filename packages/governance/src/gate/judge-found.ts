import { computeRisk } from "../policies/risk.ts";
import type { Analysis, CallContext, Found, Judgement } from "../tool.ts";
import { toolErrorFromFinding } from "../tool-error.ts";
import type { Finding } from "../verdict.ts";
import { type AskedAction, answerTo, askAbout, factsOf, withPattern } from "./ask-person.ts";
import { policyInput } from "./decide-call.ts";
import type { Decision } from "./gate-journal.ts";
import type { GateOptions } from "./gate-options.ts";
import { type Decided, decisionOf, foundWork, refusedByAnswer } from "./passage.ts";
import { redactedVerdict } from "./redacted-reason.ts";
import { runPolicies } from "./run-policies.ts";

/**
 * Judges what a call has done where nobody sees it yet, by the policies that judge everything: they see what was found in
 * place of what the call said it would do. What may be kept is recorded before this resolves.
 */
export async function judgeFound(
  work: Found,
  decided: Decided,
  context: CallContext,
  options: GateOptions,
): Promise<{ readonly judgement: Judgement; readonly decision: Decision }> {
  const { journal } = options;
  const found = await decideFound(work, decided, context, options);
  for (const warning of found.warnings) journal.warn(warning, context.turnId);
  let decision = decisionOf(found, undefined);
  journal.decided(decision, context.turnId);
  if (found.verdict.type === "deny") return dropped(found.verdict.finding, decision);
  if (found.verdict.type === "ask") {
    const { finding } = found.verdict;
    const asked = aboutWork(askAbout(found, finding, context.turnId, options), work);
    const answer = await answerTo(asked, context, options);
    if (answer.type !== "yes") {
      const { decision: refused, refusal } = refusedByAnswer(found, answer, foundWork);
      const error = toolErrorFromFinding(finding);
      // The model has to know what of it needs a yes, to do without.
      const message = `${refusal?.error.message ?? ""} ${error.message}`.trim();
      return { judgement: { type: "drop", error: { ...error, ...refusal?.error, message } }, decision: refused };
    }
    // The world moved meanwhile: HEAD, rules, the claim to the tree.
    const again = await decideFound(work, decided, context, options);
    if (again.verdict.type === "deny") return dropped(again.verdict.finding, decisionOf(again, answer));
    if (!factsOf(again).rules.every((rule) => asked.facts.rules.includes(rule))) {
      return dropped(changedMeanwhile, { ...decisionOf(again, answer), verdict: "deny" });
    }
    decision = await withPattern(decisionOf(again, answer), answer, asked, options);
  }
  context.signal.throwIfAborted();
  await journal.begin([decision], context.turnId);
  return { judgement: { type: "keep" }, decision };
}

async function decideFound(
  { statement, effects, operands }: Found,
  decided: Decided,
  context: CallContext,
  options: GateOptions,
): Promise<Decided> {
  const { policies, redactor, policyTimeoutMs: timeoutMs } = options;
  const analysis: Analysis = { ...decided.analysis, statement, effects, operands, done: true };
  const input = policyInput({ ...decided, analysis }, context, options);
  const { verdict, fired, warnings } = await runPolicies(policies, input, { timeoutMs, signal: context.signal });
  return {
    ...decided,
    analysis,
    verdict: await redactedVerdict(verdict, redactor),
    fired: await Promise.all(
      fired.map(async (each) => ({ ...each, verdict: await redactedVerdict(each.verdict, redactor) })),
    ),
    risk: computeRisk(analysis),
    warnings,
  };
}

function dropped(finding: Finding, decision: Decision): { readonly judgement: Judgement; readonly decision: Decision } {
  return { judgement: { type: "drop", error: toolErrorFromFinding(finding) }, decision };
}

const changedMeanwhile: Finding = {
  code: "changed_after_approval",
  rule: "gate/confirm",
  reason: "What the rules say of these changes is not what was agreed to any more, so nothing of them was kept.",
  hint: "Run the command again.",
  retryable: true,
};

function aboutWork(asked: AskedAction, work: Found): AskedAction {
  const diff = work.diff?.() ?? "";
  const { question } = asked;
  const title = `Keep what ${question.toolName} changed?`;
  return { ...asked, question: { ...question, title, ...(diff === "" ? {} : { diff }) } };
}
