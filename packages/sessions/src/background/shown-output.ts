import type { LiveRedactionStream, LiveRedactor } from "@gennai/governance/redaction";
import type { OutputRing } from "./output-ring.ts";

/** Characters that may wait for redaction; faster output is not shown in full. */
const mostPending = 1024 * 1024;
/** Milliseconds after which an incomplete line is shown. */
const delayMs = 150;

/** Redacts a run's output and puts it where users and the model read it. */
export class ShownOutput {
  readonly ring: OutputRing;
  readonly #redactor: Pick<LiveRedactor, "live">;
  #stream: LiveRedactionStream;
  #work = Promise.resolve();
  #pending = 0;
  /** Characters dropped since the last shown output. */
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(ring: OutputRing, redactor: Pick<LiveRedactor, "live">) {
    this.ring = ring;
    this.#redactor = redactor;
    this.#stream = redactor.live();
  }

  push(text: string): void {
    if (this.#dropped > 0 || this.#pending + text.length > mostPending) {
      this.#drop(text);
      return;
    }
    this.#show(text);
  }

  /** Resolves when everything is shown. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#work;
    this.ring.push(await this.#stream.flush());
    if (this.#dropped > 0) this.ring.push(this.#note());
  }

  #show(text: string): void {
    this.#pending += text.length;
    this.#work = this.#work.then(async () => {
      this.ring.push(await this.#stream.push(text));
      this.#pending -= text.length;
      clearTimeout(this.#timer);
      if (this.#stream.holding) this.#timer = setTimeout(() => void this.#flush(), delayMs).unref();
    });
  }

  /** Drops output until the queue is empty, then up to the next line: a secret is not recognised from its middle. */
  #drop(text: string): void {
    const line = this.#pending === 0 ? text.indexOf("\n") : -1;
    this.#dropped += line < 0 ? text.length : line + 1;
    if (line < 0) return;
    const note = this.#note();
    this.#dropped = 0;
    this.#work = this.#work.then(async () => {
      this.ring.push((await this.#stream.flush()) + note);
      this.#stream = this.#redactor.live();
    });
    this.#show(text.slice(line + 1));
  }

  #note(): string {
    return `\n[${this.#dropped} characters of output left out]\n`;
  }

  async #flush(): Promise<void> {
    this.ring.push(await this.#stream.flush());
  }
}
