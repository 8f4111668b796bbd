import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";

export interface ProcessOptions {
  readonly args?: readonly string[];
  readonly nodeArgs?: readonly string[];
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A Node program that talks by lines: standard input down, standard output up. Disposing ends it and waits for that. */
export class LineProcess implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<void>;
  #errors = "";

  constructor(program: string, options: ProcessOptions = {}) {
    this.#child = spawn(process.execPath, [...(options.nodeArgs ?? []), program, ...(options.args ?? [])], {
      cwd: options.cwd,
      env: { ...process.env, ...options.environment },
    });
    this.#ended = new Promise((resolve) => this.#child.once("close", () => resolve()));
    this.#child.stderr.on("data", (chunk: Buffer) => (this.#errors = (this.#errors + chunk.toString()).slice(-2000)));
    this.#child.stdin.on("error", () => undefined);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  get id(): number {
    return this.#child.pid ?? 0;
  }

  send(value: object): void {
    this.#child.stdin.write(`${JSON.stringify(value)}\n`);
  }

  /** The next line it prints. Rejects with what it said on standard error when it has ended. */
  async line(): Promise<string> {
    const next = await this.#lines.next();
    if (next.done !== true) return next.value;
    await this.#ended;
    throw new Error(`${this.#child.spawnargs.join(" ")} ended early. ${this.#errors}`);
  }

  async ask(value: object): Promise<string> {
    this.send(value);
    return this.line();
  }

  async ended(): Promise<void> {
    await this.#ended;
  }

  /** Reads all that it still prints, and resolves when it has ended. */
  async readToEnd(): Promise<void> {
    while ((await this.#lines.next()).done !== true);
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    this.#child.kill("SIGTERM");
    const patience = setTimeout(() => this.#child.kill("SIGKILL"), 5000);
    await this.#ended;
    clearTimeout(patience);
  }
}
