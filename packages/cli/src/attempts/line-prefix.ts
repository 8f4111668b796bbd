import { Writable } from "node:stream";

/** Passes whole lines on, each after the same prefix, so that a reader can tell several writers apart. */
export class LinePrefix extends Writable {
  readonly #target: NodeJS.WritableStream;
  readonly #prefix: string;
  #rest = "";

  constructor(target: NodeJS.WritableStream, prefix: string) {
    super();
    this.#target = target;
    this.#prefix = prefix;
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    const lines = (this.#rest + chunk.toString()).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#target.write(`${this.#prefix}${line}\n`);
    done();
  }

  override _final(done: () => void): void {
    if (this.#rest !== "") this.#target.write(`${this.#prefix}${this.#rest}\n`);
    done();
  }
}
