import type { Answer, ConfirmationScope, Question } from "../confirmation.ts";

/** A session's remembered yes answers. Each holds for the exact action and the rule it was given for, and never for high risk. */
export class RememberedAnswers {
  readonly #session = new Set<string>();
  readonly #turn = new Map<string, string>();

  remember(question: Question, scope: ConfirmationScope): void {
    if (question.computed.risk === "high" || !question.offeredScopes.includes(scope)) return;
    if (scope === "session") this.#session.add(keyOf(question));
    if (scope === "turn") this.#turn.set(keyOf(question), question.turnId);
  }

  find(question: Question): (Answer & { readonly type: "yes" }) | undefined {
    if (question.computed.risk === "high") return undefined;
    const key = keyOf(question);
    if (this.#session.has(key)) return { type: "yes", scope: "session", by: "remembered" };
    if (this.#turn.get(key) === question.turnId) return { type: "yes", scope: "turn", by: "remembered" };
    return undefined;
  }

  forget(): void {
    this.#session.clear();
    this.#turn.clear();
  }
}

/** Another rule that asks about the same action asks something else. */
function keyOf({ actionSha256, computed }: Question): string {
  return `${actionSha256} ${computed.rule}`;
}
