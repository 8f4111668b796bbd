import type { Answer, ConfirmationScope, Question } from "../confirmation.ts";

/** A session's remembered yes answers. Each holds for the exact action it was given for, and never for high risk. */
export class RememberedAnswers {
  readonly #session = new Set<string>();
  readonly #turn = new Map<string, string>();

  remember(question: Question, scope: ConfirmationScope): void {
    if (question.computed.risk === "high" || !question.offeredScopes.includes(scope)) return;
    if (scope === "session") this.#session.add(question.actionSha256);
    if (scope === "turn") this.#turn.set(question.actionSha256, question.turnId);
  }

  find(question: Question): (Answer & { readonly type: "yes" }) | undefined {
    if (question.computed.risk === "high") return undefined;
    if (this.#session.has(question.actionSha256)) return { type: "yes", scope: "session", by: "remembered" };
    if (this.#turn.get(question.actionSha256) === question.turnId) return { type: "yes", scope: "turn", by: "remembered" };
    return undefined;
  }

  forget(): void {
    this.#session.clear();
    this.#turn.clear();
  }
}
