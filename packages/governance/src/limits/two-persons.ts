import { globMatcher } from "../glob-matcher.ts";
import type { Policy } from "../policy.ts";
import { deny, type Judgement, type Verdict } from "../verdict.ts";
import { type Limit, type Limits, placeOf } from "./limits.ts";

/** Whether a second person can be asked at all: only where each person is known by a token of their own. */
export type SecondPersonState = "reachable" | "unavailable";

/**
 * The same policies, but what they ask about needs a second person's yes where a limit wants two for it, and is refused where no second
 * one can be asked.
 */
export function needingTwoPersons(
  policies: readonly Policy[],
  { current, second }: { current(): Limits; readonly second: SecondPersonState },
): readonly Policy[] {
  if (!current().some(({ answers }) => answers?.two_persons !== undefined)) return policies;
  const judged = (judgement: Judgement): Judgement => secondPersonVerdict(current(), judgement, second);
  return policies.map((policy) => ({
    ...policy,
    decide: (input, options) => {
      const judgement = policy.decide(input, options);
      return judgement instanceof Promise ? judgement.then(judged) : judged(judgement);
    },
  }));
}

/** A question that says that it needs two persons, or a refusal instead of it. */
export function secondPersonVerdict(limits: Limits, judgement: Judgement, second: SecondPersonState): Judgement {
  if (judgement.type !== "ask") return judgement;
  const { finding } = judgement;
  const wanting = [finding.rule, ...(finding.alongside ?? [])].flatMap((rule) => {
    const limit = limits.find((each) => wantsTwo(each, rule));
    return limit === undefined ? [] : [{ rule, limit }];
  })[0];
  if (wanting === undefined) return judgement;
  const { rule, limit } = wanting;
  if (second === "reachable") return { ...judgement, finding: { ...finding, secondPerson: true } };
  const questions = limit.contact === undefined ? "" : ` Questions: ${limit.contact}.`;
  return deny({
    code: "second_person_unavailable",
    rule,
    reason: `${limit.name} wants two persons for ${rule}, and no second one can be asked here.${questions}`,
    hint: "Work in branch mode on a server of many users with approvers: there a second person is asked.",
    place: placeOf(limit, "answers.two_persons"),
  });
}

function wantsTwo({ answers: { two_persons: rules = [] } = {} }: Limit, rule: string): boolean {
  return rules.length > 0 && globMatcher(rules)(rule);
}

/** Whether any of the rules that ask about a call wants two persons, not only the strictest. */
export function needsSecondPerson(fired: readonly { readonly verdict: Verdict }[]): boolean {
  return fired.some(({ verdict }) => verdict.type === "ask" && verdict.finding.secondPerson === true);
}
