import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

export interface CommandResult {
  readonly code: number;
  /** Standard output and standard error, as they came. */
  readonly output: string;
}

/** A bash in which a page's commands follow each other, as in one terminal. Disposing ends it and all it started. */
export class PageShell implements AsyncDisposable {
  readonly #process: ChildProcess;
  #output = "";
  #ended = false;

  constructor(options: { readonly directory: string; readonly environment: NodeJS.ProcessEnv }) {
    // A process group of its own: what a page leaves running ends with it.
    this.#process = spawn("bash", ["--noprofile", "--norc"], {
      cwd: options.directory,
      env: options.environment,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.#output += text;
      });
    }
    this.#process.once("exit", () => {
      this.#ended = true;
    });
  }

  /** Runs one command to its end. Throws when that takes longer than `timeoutMs`. */
  async run(command: string, options: { readonly timeoutMs: number }): Promise<CommandResult> {
    const mark = `--${randomUUID()}--`;
    const from = this.#output.length;
    this.#process.stdin?.write(`{ ${command}\n} </dev/null 2>&1; printf '%s %d\\n' '${mark}' "$?"\n`);
    const end = new RegExp(`${mark} (\\d+)\\n`);
    const match = await this.#until(options.timeoutMs, () => end.exec(this.#output.slice(from)));
    if (match === undefined) {
      throw new Error(`no end within ${options.timeoutMs} ms of: ${command}\n${this.#output.slice(from)}`);
    }
    return { code: Number(match[1]), output: this.#output.slice(from, from + match.index) };
  }

  /** Starts a command that runs on; its output goes to a file. Gives the file. */
  async start(command: string, file: string): Promise<void> {
    await this.run(`{ ${command}\n} >'${file}' 2>&1 &`, { timeoutMs: 5_000 });
  }

  async #until<Found>(timeoutMs: number, look: () => Found | null): Promise<Found | undefined> {
    for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(10)) {
      const found = look();
      if (found !== null) return found;
      if (this.#ended) throw new Error(`the shell ended:\n${this.#output}`);
    }
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { pid } = this.#process;
    if (pid === undefined) return;
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      try {
        process.kill(-pid, signal);
      } catch {
        return;
      }
      for (let waited = 0; waited < 2_000 && isAlive(-pid); waited += 20) await sleep(20);
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
