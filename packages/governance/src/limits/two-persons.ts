import { globMatcher } from "../glob-matcher.ts";
import type { Policy } from "../policy.ts";
import { deny, type Judgement } from "../verdict.ts";
import { type Limits, placeOf } from "./limits.ts";

/**
 * The same policies, but what they ask about is refused where a limit wants two persons for it: a question is answered by one, so a
 * yes of it would be too little.
 */
export function needingTwoPersons(policies: readonly Policy[], { current }: { current(): Limits }): readonly Policy[] {
  if (!current().some(({ answers }) => answers?.two_persons !== undefined)) return policies;
  const judged = (judgement: Judgement): Judgement => secondPersonVerdict(current(), judgement);
  return policies.map((policy) => ({
    ...policy,
    decide: (input, options) => {
      const judgement = policy.decide(input, options);
      return judgement instanceof Promise ? judgement.then(judged) : judged(judgement);
    },
  }));
}

/** A refusal instead of a question that needs two persons. */
export function secondPersonVerdict(limits: Limits, judgement: Judgement): Judgement {
  if (judgement.type !== "ask") return judgement;
  const { rule: first, alongside = [] } = judgement.finding;
  const wanting = [first, ...alongside].flatMap((rule) => {
    const limit = limits.find(
      ({ answers: { two_persons: two = [] } = {} }) => two.length > 0 && globMatcher(two)(rule),
    );
    return limit === undefined ? [] : [{ rule, limit }];
  })[0];
  if (wanting === undefined) return judgement;
  const { rule, limit } = wanting;
  const questions = limit.contact === undefined ? "" : ` Questions: ${limit.contact}.`;
  return deny({
    code: "second_person_unavailable",
    rule,
    reason: `${limit.name} wants two persons for ${rule}, and no second one can be asked here.${questions}`,
    hint: "Nobody here can lift it.",
    place: placeOf(limit, "answers.two_persons"),
  });
}
