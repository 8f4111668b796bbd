import { Writable } from "node:stream";
import pLimit from "p-limit";
import type { LineInput } from "../terminal/line-input.ts";

/** The one person at a terminal, whom several attempts that run at the same time ask: one question at a time. */
export class SharedPerson {
  /** Runs questions one after the other, each until it is answered. */
  readonly inOrder = pLimit(1);
  /** Output of the attempts. It waits while a question is open, so that nothing is printed into what is being typed. */
  readonly output: Writable;
  readonly #lines: () => Pick<LineInput, "question">;
  readonly #target: NodeJS.WritableStream;
  readonly #held: string[] = [];
  #isAsking = false;

  /** @param lines the person's input; called for each question, so that the input can be opened at the first one */
  constructor(target: NodeJS.WritableStream, lines: () => Pick<LineInput, "question">) {
    this.#target = target;
    this.#lines = lines;
    this.output = new Writable({
      decodeStrings: false,
      write: (chunk: string | Buffer, _encoding, done) => {
        if (this.#isAsking) this.#held.push(chunk.toString());
        else this.#target.write(chunk);
        done();
      },
    });
  }

  /** Asks, as `LineInput` does. */
  async question(prompt: string, options: { readonly signal: AbortSignal }): Promise<string | undefined> {
    this.#isAsking = true;
    try {
      return await this.#lines().question(prompt, options);
    } finally {
      this.#isAsking = false;
      for (const text of this.#held.splice(0)) this.#target.write(text);
    }
  }
}
