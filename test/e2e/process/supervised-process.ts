import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

const supervisor = fileURLToPath(new URL("supervisor.mjs", import.meta.url));
const keptOutput = 20_000;

/** A program that ends, with all it started, when it is disposed or when this process is gone. Linux and macOS. */
export class SupervisedProcess implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #ended: Promise<unknown>;
  #output = "";

  /** @param environment all of it */
  constructor(
    program: string,
    args: readonly string[],
    options: { readonly cwd: string; readonly environment: NodeJS.ProcessEnv },
  ) {
    this.#child = spawn(process.execPath, [supervisor, program, ...args], {
      cwd: options.cwd,
      env: options.environment,
      // A group of its own, which the supervisor ends.
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child.stdin.on("error", () => undefined);
    this.#ended = once(this.#child, "close");
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.#output = (this.#output + text).slice(-keptOutput);
      });
    }
  }

  /** The last of what it wrote, on both streams. */
  get output(): string {
    return this.#output;
  }

  /** The first group of `pattern` in what it writes. Rejects, with what it wrote, when it ends or `timeoutMs` pass first. */
  async printed(pattern: RegExp, { timeoutMs }: { readonly timeoutMs: number }): Promise<string> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const found = pattern.exec(this.#output)?.[1];
      if (found !== undefined) return found;
      const waited = await Promise.race([
        once(this.#child.stdout, "data").then(() => "more" as const),
        once(this.#child.stderr, "data").then(() => "more" as const),
        this.#ended.then(() => "ended" as const),
        delay(Math.max(0, deadline - Date.now())).then(() => "late" as const),
      ]);
      if (waited === "more") continue;
      throw new Error(`${this.#child.spawnargs.slice(2).join(" ")}: ${waited}, wanted ${pattern}.\n${this.#output}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
