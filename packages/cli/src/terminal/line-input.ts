import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Console, isTerminal } from "./console.ts";
import { terminalSafe } from "./terminal-safe.ts";

/**
 * Lines that the user types. Those that arrive while nothing is asked wait for the next `line`; they never answer a `question`
 * that appears later. Ctrl-C drops them.
 */
export class LineInput implements Disposable {
  readonly #console: Console;
  readonly #terminal: boolean;
  readonly #early: string[] = [];
  readonly #onInterrupt: () => void;
  readonly #gate: Gate;
  #reader: Interface;
  #waiting: ((line: string | undefined) => void) | undefined;
  #ended = false;
  #suspended = false;

  /** @param onInterrupt called for Ctrl-C; on a terminal it arrives here, because the terminal makes no signal of it any more */
  constructor(console: Console, onInterrupt: () => void) {
    this.#console = console;
    this.#terminal = isTerminal(console.input) && isTerminal(console.errors);
    this.#onInterrupt = onInterrupt;
    this.#gate = new Gate(console.errors);
    this.#reader = this.#open();
  }

  /** Asks. Only what is typed after the question is shown answers it. undefined: the input ended, or the signal aborted. */
  async question(prompt: string, options: { readonly signal: AbortSignal }): Promise<string | undefined> {
    // What was typed before may still arrive: wait for it, then forget it.
    await sleep(30);
    if (this.#terminal) this.#reader.write(null, { ctrl: true, name: "e" });
    if (this.#terminal) this.#reader.write(null, { ctrl: true, name: "u" });
    return this.#next(prompt, options.signal);
  }

  /** The next line, or one that has already arrived. undefined as for `question`. */
  async line(prompt: string, options: { readonly signal: AbortSignal }): Promise<string | undefined> {
    const early = this.#early.shift();
    if (early !== undefined) {
      if (this.#terminal) this.#console.errors.write(`${prompt}${terminalSafe(early)}\n`);
      return early;
    }
    return this.#next(prompt, options.signal);
  }

  /** Leaves the terminal to another program until disposed. */
  suspend(): Disposable {
    this.#suspended = true;
    this.#reader.close();
    return {
      [Symbol.dispose]: () => {
        this.#suspended = false;
        this.#reader = this.#open();
      },
    };
  }

  [Symbol.dispose](): void {
    this.#suspended = true;
    this.#reader.close();
    this.#waiting?.(undefined);
  }

  #next(prompt: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#ended || signal.aborted) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const finish = (line: string | undefined) => {
        signal.removeEventListener("abort", onAbort);
        this.#waiting = undefined;
        this.#gate.isOpen = false;
        resolve(line);
      };
      const onAbort = () => {
        this.#console.errors.write("\n");
        finish(undefined);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#gate.isOpen = true;
      this.#waiting = finish;
      this.#reader.setPrompt(prompt);
      this.#reader.prompt();
    });
  }

  #open(): Interface {
    const reader = createInterface({
      input: this.#console.input,
      output: this.#gate,
      terminal: this.#terminal,
      historySize: 0,
    });
    reader.on("line", (line) => {
      if (this.#waiting !== undefined) this.#waiting(line);
      else this.#early.push(line);
    });
    reader.on("SIGINT", () => {
      this.#early.length = 0;
      this.#onInterrupt();
    });
    // A closed terminal can be neither read nor set; its end is reported as well.
    reader.on("error", () => undefined);
    reader.on("close", () => {
      if (this.#suspended) return;
      this.#ended = true;
      this.#waiting?.(undefined);
    });
    return reader;
  }
}

/** Shows what the reader echoes only while something is asked. */
class Gate extends Writable {
  isOpen = false;
  readonly #target: NodeJS.WritableStream;

  constructor(target: NodeJS.WritableStream) {
    super();
    this.#target = target;
  }

  get columns(): number {
    const columns = "columns" in this.#target && typeof this.#target.columns === "number" ? this.#target.columns : 0;
    return columns === 0 ? 80 : columns;
  }

  override _write(chunk: Buffer | string, _encoding: BufferEncoding, done: () => void): void {
    if (this.isOpen) this.#target.write(chunk);
    done();
  }
}
