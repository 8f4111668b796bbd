/** A policy's verdict on an action. The strictest of all verdicts wins: deny, then ask, then allow. */
export type Verdict =
  | { readonly type: "allow" }
  | { readonly type: "ask"; readonly finding: Finding }
  | { readonly type: "deny"; readonly finding: Finding };

/** A verdict of a user's program, which may want the call to have other arguments: with these it is judged anew. */
export type Judgement = Verdict & { readonly wanted?: Readonly<Record<string, unknown>> };

/** Why a verdict is not a plain allow: the rule that gave it, for people and for the model. */
export interface Finding {
  /** Stable code of the refusal, e.g. `outside_workspace`. */
  readonly code: string;
  /** Name of the rule, e.g. `containment/outside-workspace`. */
  readonly rule: string;
  /** One sentence for users and the model that says what they can do. */
  readonly reason: string;
  /** What to do instead. */
  readonly hint?: string;
  /** Place of the rule, `file:line`; absent for a built-in one. */
  readonly place?: string;
  /** Names of other rules that ask about the same action, and would ask without this one. */
  readonly alongside?: readonly string[];
  /** Milliseconds in which a question for it has to be answered, where less than for other questions. */
  readonly answerMs?: number;
  /** The question needs the yes of two persons. */
  readonly secondPerson?: true;
  /** True when the same call may succeed later, e.g. after a fresh read. */
  readonly retryable?: boolean;
}

/** A policy as refusals name it. */
export interface NamedPolicy {
  readonly name: string;
  /** Whom people ask. */
  readonly contact?: string | undefined;
}

export const allow: Verdict = { type: "allow" };

export function ask(finding: Finding): Verdict {
  return { type: "ask", finding };
}

export function deny(finding: Finding): Verdict {
  return { type: "deny", finding };
}

const strictness = { allow: 0, ask: 1, deny: 2 } as const;

/** The finding with the policy of root that lays it down, and whom to ask, as nobody here can lift it. */
export function laidDownByRoot(finding: Finding, { name, contact }: NamedPolicy): Finding {
  const { reason } = finding;
  const sentences = [
    reason.endsWith(".") ? reason : `${reason}.`,
    ...(reason.includes(`policy ${name} `) ? [] : [`Policy: ${name}.`]),
    ...(contact === undefined ? [] : [`Questions: ${contact}.`]),
  ];
  return { ...finding, reason: sentences.join(" "), hint: "Do it another way. Nobody here can lift this." };
}

/** The strictest verdict; the first among equals. No verdict at all is a deny: silence never permits. */
export function strictest(verdicts: readonly Verdict[]): Verdict {
  let winner: Verdict | undefined;
  for (const verdict of verdicts) {
    if (winner === undefined || strictness[verdict.type] > strictness[winner.type]) winner = verdict;
  }
  return (
    winner ??
    deny({
      code: "no_policy",
      rule: "gate/no-policy",
      reason: "No rule judged this call, so it does not run.",
    })
  );
}
