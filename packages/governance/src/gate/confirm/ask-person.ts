import { misfitOf } from "@gennai/protocol/model/governance/offered-yes";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import type { Answer, Confirmer, Question } from "../../confirmation.ts";
import { mayLast } from "../../limits/laid-down.ts";
import type { Redactor } from "../../redaction.ts";
import type { CallContext } from "../../tool.ts";
import type { Finding } from "../../verdict.ts";
import type { AdmittedCall, Decided } from "../decide/decided-call.ts";
import { type ActionFacts, actionFacts } from "./action-facts.ts";
import { type AnswerPattern, type AnswerScope, patternsFor } from "./answer-pattern.ts";
import { buildQuestion, type QuestionContext } from "./build-question.ts";
import { offeredPattern } from "./offered-pattern.ts";
import type { PersistentApprovals } from "./persistent-approvals.ts";
import type { RememberedAnswers } from "./remembered-answers.ts";

/** What is needed to ask a person, and to remember what they said. */
export interface AskOptions {
  readonly sessionId: string;
  readonly confirmer: Confirmer;
  readonly redactor: Redactor;
  readonly remembered: RememberedAnswers;
  /** Answers that hold beyond the session; without it none is offered. */
  readonly lasting?: PersistentApprovals | undefined;
  /** How long a yes lasts at most; undefined: as long as it is offered. */
  readonly longestYes?: ConfirmationScope | undefined;
  /** SHA-256 of the rules in force, shown with every question. */
  readonly policySha256: string;
  /** The intent the session works under, shown with every question. */
  readonly intent?: () => { readonly id: string; readonly name: string } | undefined;
  /** How the server's own commands run, shown with questions about them. */
  readonly isolation?: "sandboxed" | "unsandboxed";
}

/** What a user is asked, and what is needed to remember the answer. */
export interface AskedAction {
  readonly question: Question;
  readonly facts: ActionFacts;
  readonly place: AnswerScope;
  readonly patterns: readonly AnswerPattern[];
}

export function askAbout(decided: Decided, finding: Finding, turnId: string, options: AskOptions): AskedAction {
  const { sessionId, policySha256, isolation, remembered } = options;
  const question = buildQuestion(decided, finding, questionContext(turnId, options));
  const facts = factsOf(decided);
  const place = { sessionId, policySha256, isolation: isolation ?? "" };
  const patterns = question.offeredScopes.length > 1 ? patternsFor(facts, place) : [];
  const earlier = remembered.earlier.filter(({ callId }) => callId !== facts.callId);
  const offered = patterns.map((pattern) => offeredPattern(pattern, earlier));
  const withPatterns = offered.length === 0 ? question : { ...question, patterns: offered };
  return { facts, place, patterns, question: shortened(withLasting(withPatterns, options), options) };
}

/** The same question, without answers that would last longer than they may. */
export function shortened(question: Question, { longestYes }: Pick<AskOptions, "longestYes">): Question {
  const offeredScopes = question.offeredScopes.filter((scope) => mayLast(scope, longestYes));
  if (offeredScopes.length > 1 || question.offeredScopes.length < 2) return { ...question, offeredScopes };
  const { patterns: _patterns, ...once } = question;
  return { ...once, offeredScopes, rememberStatement: "" };
}

/** The same question, with a yes for the workspace among its answers where one is kept. */
function withLasting(question: Question, { lasting }: AskOptions): Question {
  const onlyOnce = question.secondPerson || isAtLeast(question.computed.risk, "high");
  const statement = onlyOnce ? undefined : lasting?.offer(question);
  if (statement === undefined) return question;
  const { offeredScopes, rememberStatement } = question;
  return {
    ...question,
    offeredScopes: [...offeredScopes, "workspace"],
    rememberStatement: `${rememberStatement} ${statement}`,
  };
}

/** A remembered answer, or a person's, which is remembered as it says. */
export async function answerTo(asked: AskedAction, context: CallContext, options: AskOptions): Promise<Answer> {
  const { question, patterns } = asked;
  const { remembered, confirmer } = options;
  // What is known is the answer of one.
  const known = question.secondPerson
    ? undefined
    : (remembered.find(question, asked) ?? (await lastingAnswer(asked, options)));
  if (known !== undefined) return known;
  const answer = await personsAnswer(question, confirmer, context.signal);
  if (answer.type !== "yes") return answer;
  const misfit = misfitOf(question, answer);
  if (misfit !== "") return { type: "no", reason: misfit, by: answer.by };
  const pattern = patterns.find(({ id }) => id === answer.pattern);
  if (answer.scope === "workspace") await options.lasting?.remember(question, asked.facts.rules);
  else remembered.remember(question, answer.scope, pattern);
  return answer;
}

/** What a person says; where two are needed, a yes of one counts as if nobody could be asked. */
export async function personsAnswer(question: Question, confirmer: Confirmer, signal: AbortSignal): Promise<Answer> {
  const answer = await confirmer.ask(question, { signal });
  if (question.secondPerson !== true) return answer;
  const isOfOne = answer.type === "passed-on" || (answer.type === "yes" && answer.second === undefined);
  return isOfOne ? { type: "nobody" } : answer;
}

async function lastingAnswer({ question, facts }: AskedAction, { lasting }: AskOptions): Promise<Answer | undefined> {
  if (lasting === undefined || !question.offeredScopes.includes("workspace")) return undefined;
  const found = await lasting.find(question, facts.rules);
  if (found === undefined) return undefined;
  return { type: "yes", scope: "workspace", by: "remembered", remembered: found };
}

/** The record names the pattern a yes was given for; text of it may be masked. */
export async function withPattern(
  decision: AdmittedCall["decision"],
  answer: Answer,
  { patterns }: AskedAction,
  { redactor }: AskOptions,
): Promise<AdmittedCall["decision"]> {
  const { confirmation } = decision;
  if (answer.type !== "yes") return decision;
  const text = answer.remembered?.pattern ?? patterns.find(({ id }) => id === answer.pattern)?.text;
  if (confirmation === undefined || text === undefined) return decision;
  return { ...decision, confirmation: { ...confirmation, pattern: await redactor.redact(text) } };
}

/** The facts of a decided call that a remembered answer depends on. */
export function factsOf({ call, tool, analysis, verdict, fired, risk }: Decided): ActionFacts {
  return actionFacts({ callId: call.id, tool: tool.name, analysis, verdict, fired, risk });
}

export function questionContext(turnId: string, { policySha256, intent }: AskOptions): QuestionContext {
  return { turnId, policySha256, intent: intent?.() };
}
