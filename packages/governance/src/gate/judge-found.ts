import { computeRisk } from "../policies/risk.ts";
import type { CallContext, Found, Judgement } from "../tool.ts";
import { toolErrorFromFinding } from "../tool-error.ts";
import { type AskedAction, answerTo, askAbout, withPattern } from "./ask-person.ts";
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
  const { policies, journal, redactor, policyTimeoutMs } = options;
  const { statement, effects, operands } = work;
  const analysis = { ...decided.analysis, statement, effects, operands };
  const { verdict, fired, warnings } = await runPolicies(
    policies,
    policyInput({ ...decided, analysis }, context, options),
    {
      timeoutMs: policyTimeoutMs,
      signal: context.signal,
    },
  );
  for (const warning of warnings) journal.warn(warning, context.turnId);
  const found: Decided = {
    ...decided,
    analysis,
    verdict: await redactedVerdict(verdict, redactor),
    fired: await Promise.all(
      fired.map(async (each) => ({ ...each, verdict: await redactedVerdict(each.verdict, redactor) })),
    ),
    risk: computeRisk(analysis),
    warnings,
  };
  const plain = decisionOf(found, undefined);
  journal.decided(plain, context.turnId);
  if (found.verdict.type === "deny") {
    return { judgement: { type: "drop", error: toolErrorFromFinding(found.verdict.finding) }, decision: plain };
  }
  let decision = plain;
  if (found.verdict.type === "ask") {
    const asked = aboutWork(askAbout(found, found.verdict.finding, context.turnId, options), work);
    const answer = await answerTo(asked, context, options);
    if (answer.type !== "yes") {
      const { decision: refused, refusal } = refusedByAnswer(found, answer, foundWork);
      const error = toolErrorFromFinding(found.verdict.finding);
      // The model has to know what of it needs a yes, to do without.
      const message = `${refusal?.error.message ?? ""} ${error.message}`.trim();
      return { judgement: { type: "drop", error: { ...error, ...refusal?.error, message } }, decision: refused };
    }
    decision = await withPattern(decisionOf(found, answer), answer, asked, options);
  }
  await journal.begin([decision], context.turnId);
  return { judgement: { type: "keep" }, decision };
}

function aboutWork(asked: AskedAction, work: Found): AskedAction {
  const diff = work.diff?.() ?? "";
  const { question } = asked;
  const title = `Keep what ${question.toolName} changed?`;
  return { ...asked, question: { ...question, title, ...(diff === "" ? {} : { diff }) } };
}
