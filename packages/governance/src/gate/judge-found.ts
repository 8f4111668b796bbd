import { asSentence } from "@gennai/protocol/as-sentence";
import { closedUnderNeeds, droppedForRest } from "@gennai/protocol/model/governance/offered-parts";
import type { Answer } from "../confirmation.ts";
import type { Decision } from "../gate-journal.ts";
import type { CallContext, Found, FoundPart, Judgement } from "../tool.ts";
import { toolErrorFromFinding } from "../tool-error.ts";
import type { Finding } from "../verdict.ts";
import { type AskedAction, answerTo, askAbout, factsOf, withPattern } from "./confirm/ask-person.ts";
import { type Decided, decisionOf, foundWork, refusedByAnswer } from "./decide/decided-call.ts";
import { decideFound } from "./decide-found.ts";
import type { GateOptions } from "./gate-options.ts";
import { type AgainstParts, judgeParts, pathsByRule } from "./judge-parts.ts";

/**
 * Judges changes of a call that are not visible yet, by all policies: they see what was found instead of what the call
 * announced. Refused changes are dropped. If policies ask, a user keeps all, some, or nothing; without an answer, tags and other
 * branches that need one are dropped alone. What may be kept is recorded before this resolves.
 */
export async function judgeFound(
  work: Found,
  decided: Decided,
  context: CallContext,
  options: GateOptions,
): Promise<{ readonly judgement: Judgement; readonly decision: Decision }> {
  const { journal } = options;
  const judge = (parts: readonly FoundPart[]) => decideFound({ ...work, parts }, decided, context, options);
  const found = await judge(work.parts);
  for (const warning of found.warnings) journal.warn(warning, context.turnId);
  let decision = decisionOf(found, undefined);
  journal.decided(decision, context.turnId);
  let dropped: readonly FoundPart[] = [];
  if (found.verdict.type !== "allow") {
    const { type, finding } = found.verdict;
    const against = await judgeParts(work.parts, found.verdict, async (parts) => (await judge(parts)).verdict);
    if (type === "deny") return nothing(finding, decision, against);
    const asked = aboutWork(askAbout(found, finding, context.turnId, options), work, against);
    const answer = await answerTo(asked, context, options);
    const named = answer.type === "yes" ? (answer.dropped ?? []) : refsWithoutYes(answer, asked, against);
    if (answer.type !== "yes" && named.length === 0) {
      const { decision: refused, refusal } = refusedByAnswer(found, answer, foundWork);
      const { judgement } = nothing(finding, refused, against);
      // Tell the model which parts need a yes, so that it can do without them.
      const said = refusal === undefined ? [] : [asSentence(refusal.error.message)];
      const message = [...said, judgement.error.message].join(" ");
      return {
        judgement: { ...judgement, error: { ...judgement.error, ...refusal?.error, message } },
        decision: refused,
      };
    }
    const unwanted = closedUnderNeeds(work.parts, named);
    dropped = work.parts.filter(({ id }) => unwanted.has(id));
    if (dropped.length > 0 && dropped.length === work.parts.length) {
      return nothing(nothingLeft, { ...decisionOf(found, answer), verdict: "deny" });
    }
    // HEAD, rules, and the claim to the tree may have changed meanwhile.
    const again = await judge(work.parts.filter((part) => !dropped.includes(part)));
    if (again.verdict.type === "deny") return nothing(again.verdict.finding, decisionOf(again, answer));
    const agreed = answer.type === "yes" ? asked.facts.rules : [];
    if (!factsOf(again).rules.every((rule) => agreed.includes(rule))) {
      return nothing(changedMeanwhile, { ...decisionOf(again, answer), verdict: "deny" });
    }
    decision = await withDropped(
      await withPattern(decisionOf(again, answer), answer, asked, options),
      dropped,
      options,
    );
  }
  context.signal.throwIfAborted();
  await journal.begin([decision], context.turnId);
  return { judgement: { type: "keep", dropped }, decision };
}

/** Ids of the parts to drop so that the rest stays: if nobody answers, and only refs beside it need a yes. Empty otherwise. */
function refsWithoutYes({ type }: Answer, { question }: AskedAction, against: AgainstParts): readonly string[] {
  if (type !== "nobody" && type !== "timeout") return [];
  const effects = [...against.keys()].flatMap((part) => part.effects);
  const areRefs = effects.every((effect) => effect.type === "git" && effect.what === "ref");
  return (areRefs ? droppedForRest(question.parts ?? []) : undefined) ?? [];
}

type Nothing = { readonly judgement: Judgement & { readonly type: "drop" }; readonly decision: Decision };

/** @param against which parts it is about; left out where that is not known */
function nothing(finding: Finding, decision: Decision, against: AgainstParts = new Map()): Nothing {
  const error = toolErrorFromFinding(finding);
  const refused = pathsByRule(against, "deny");
  const asked = pathsByRule(against, "ask");
  const about = [
    ...(refused === "" ? [] : [`Refused: ${refused}.`]),
    ...(asked === "" ? [] : [`Needs a person's yes: ${asked}.`]),
  ];
  return { judgement: { type: "drop", error: { ...error, message: [error.message, ...about].join(" ") } }, decision };
}

const nothingLeft: Finding = {
  code: "user_denied",
  rule: "gate/confirm",
  reason: "Nothing is kept: the rest needs the parts that the user refused.",
  hint: "Choose another way or ask the user.",
};

const changedMeanwhile: Finding = {
  code: "changed_after_approval",
  rule: "gate/confirm",
  reason: "The rules now judge these changes differently than when the user agreed, so none of them was kept.",
  hint: "Run the command again.",
  retryable: true,
};

/** Only what can be told apart is offered by itself. */
function aboutWork(asked: AskedAction, { parts, diff: makeDiff }: Found, against: AgainstParts): AskedAction {
  const diff = makeDiff?.() ?? "";
  const { question } = asked;
  const offered = parts.map((part) => {
    const verdict = against.get(part);
    const { rule = "", reason = "" } = verdict?.type === "ask" ? verdict.finding : {};
    return { id: part.id, name: part.name, rule, reason, needs: part.needs };
  });
  return {
    ...asked,
    question: {
      ...question,
      title: `Keep what ${question.toolName} changed?`,
      ...(diff === "" ? {} : { diff }),
      ...(offered.length < 2 ? {} : { parts: offered }),
    },
  };
}

/** Records what is not kept, and who decided so. */
async function withDropped(
  decision: Decision,
  dropped: readonly FoundPart[],
  { redactor }: GateOptions,
): Promise<Decision> {
  const { confirmation } = decision;
  if (confirmation === undefined || dropped.length === 0) return decision;
  const names = await Promise.all(dropped.map(({ name }) => redactor.redact(name)));
  return { ...decision, confirmation: { ...confirmation, dropped: names } };
}
