import type { AgentClient } from "@gennai/client/connection/connection";
import { type FirstCommit, makeFirstCommit } from "@gennai/client/session/workspace-state";
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Failure, failureOf } from "../../look/failure.ts";

/** What a person decides about the first commit of a repository. */
export interface FirstCommitQuestion {
  /** undefined: the server could not tell. */
  readonly planned: FirstCommit | undefined;
  /** What the server answered to the last try. */
  readonly refusal: Failure | undefined;
}

/** Offers the first commit of a repository that has none: a yes holds for the list that is shown. */
export class FirstCommitStore {
  readonly #question = signal<FirstCommitQuestion | undefined>(undefined);
  #answer: ((yes: boolean) => void) | undefined;

  get question(): ReadonlySignal<FirstCommitQuestion | undefined> {
    return this.#question;
  }

  answer(yes: boolean): void {
    this.#answer?.(yes);
  }

  /** Resolves when it was made, or the person wants none. Rejects with the signal's reason if the person gives up. */
  async offer(
    client: AgentClient,
    { sessionId, signal: until }: { readonly sessionId: string; readonly signal: AbortSignal },
  ): Promise<void> {
    let planned: FirstCommit | undefined;
    try {
      for (;;) {
        let refusal: Failure | undefined;
        try {
          planned = await makeFirstCommit(client, { sessionId, sha256: planned?.sha256 ?? "", signal: until });
        } catch (error) {
          until.throwIfAborted();
          refusal = failureOf(error);
        }
        const isOver = planned === undefined || planned.commit !== undefined;
        if ((refusal === undefined && isOver) || !(await this.#ask({ planned, refusal }, until))) return;
      }
    } finally {
      this.#question.value = undefined;
    }
  }

  #ask(question: FirstCommitQuestion, until: AbortSignal): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const abort = () => reject(until.reason);
    until.throwIfAborted();
    until.addEventListener("abort", abort, { once: true });
    this.#answer = resolve;
    this.#question.value = question;
    return promise.finally(() => {
      this.#answer = undefined;
      until.removeEventListener("abort", abort);
    });
  }
}
