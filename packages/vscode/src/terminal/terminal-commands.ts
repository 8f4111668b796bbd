import { realpath } from "node:fs/promises";
import type { CommandOptions } from "@gennai/client/connection/editor";
import { isWithin } from "@gennai/protocol/is-within";
import type { CommandRequest, CommandRun } from "@gennai/protocol/model/session/editor-requests";
import { EditorError } from "../editor/editor-error.ts";
import { checkTerminalCommand, typedCommand } from "./terminal-command.ts";
import { TerminalOutput } from "./terminal-output.ts";
import type { CommandExecution, CommandTerminal, ExecutionEnd, Terminals } from "./terminals.ts";

export interface TerminalTiming {
  /** Milliseconds within which a new shell must report itself. */
  readonly ready: number;
  /** Milliseconds within which a shell must report that it runs what was typed. */
  readonly begin: number;
  /** Milliseconds between Ctrl-C and the end of the terminal. */
  readonly grace: number;
  /** Milliseconds for which output may still arrive after the end of its command. */
  readonly tail: number;
}

const defaultTiming: TerminalTiming = { ready: 10_000, begin: 5000, grace: 2000, tail: 1000 };

/** Characters of output in an answer: the end, where errors usually are. */
const keptOutput = 256 * 1024;
/** Most characters of output that are passed on while a command runs. */
const liveOutput = 4 * 1024 * 1024;

/**
 * Runs commands in separate terminals: a new one for each, so that nothing left by the user or an earlier command (a directory,
 * an alias, a program that waits for input) changes what was approved. The newest finished one stays open to be read.
 */
export class TerminalCommands implements AsyncDisposable {
  readonly #terminals: Terminals;
  readonly #workspace: string;
  readonly #timing: TerminalTiming;
  readonly #running = new Set<CommandTerminal>();
  readonly #finished = new Set<CommandTerminal>();

  constructor(options: {
    readonly terminals: Terminals;
    readonly workspace: string;
    readonly timing?: Partial<TerminalTiming>;
  }) {
    this.#terminals = options.terminals;
    this.#workspace = options.workspace;
    this.#timing = { ...defaultTiming, ...options.timing };
  }

  /**
   * Resolves when the command has ended, or when its end cannot be known any more. Rejects with `EditorError` if nothing was
   * typed, and with the signal's reason after an aborted command is gone.
   */
  async run(request: CommandRequest, options: CommandOptions): Promise<CommandRun> {
    const { signal } = options;
    signal.throwIfAborted();
    checkTerminalCommand(request.command);
    const cwd = await this.#directory(request.cwd);
    for (const old of this.#finished) old.close();
    this.#finished.clear();
    const terminal = await this.#terminals.create({ name: request.terminalName || "Gennai Agent", cwd });
    this.#running.add(terminal);
    try {
      if (request.reveal !== false) terminal.show();
      await this.#requireReady(terminal, cwd, signal);
      const run = await this.#observe(terminal, terminal.execute(typedCommand(request.command)), options);
      this.#finished.add(terminal);
      return run;
    } catch (error) {
      await terminal.kill();
      throw error;
    } finally {
      this.#running.delete(terminal);
    }
  }

  /** Ends running commands and closes all terminals. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const terminal of this.#finished) terminal.close();
    this.#finished.clear();
    await Promise.all([...this.#running].map((terminal) => terminal.kill()));
  }

  async #directory(cwd: string): Promise<string> {
    const root = await realpath(this.#workspace);
    if (cwd === "") return root;
    const real = await realpath(cwd).catch((error: unknown) => {
      throw new EditorError("wrong_directory", `${cwd} is not a directory.`, "Name one of the workspace.", {
        cause: error,
      });
    });
    if (isWithin(real, { directory: root })) return real;
    throw new EditorError(
      "outside_workspace",
      `${cwd} is outside the workspace.`,
      "Name a directory of the workspace.",
    );
  }

  async #requireReady(terminal: CommandTerminal, cwd: string, signal: AbortSignal): Promise<void> {
    const ready = await terminal.ready({ milliseconds: this.#timing.ready, signal });
    signal.throwIfAborted();
    if (!ready) {
      throw new EditorError(
        "no_shell_integration",
        "The terminal's shell does not report what it runs, so nothing was typed.",
        "Run the command with Bash on the server; a person can turn on terminal.integrated.shellIntegration.enabled.",
      );
    }
    const directory = await terminal.directory();
    if (directory === cwd) return;
    throw new EditorError(
      "wrong_directory",
      `The terminal is in ${directory ?? "an unknown directory"} instead of ${cwd}, so nothing was typed.`,
      "Try again, or run the command with Bash on the server.",
    );
  }

  async #observe(terminal: CommandTerminal, execution: CommandExecution, options: CommandOptions): Promise<CommandRun> {
    const { signal } = options;
    const output = new KeptOutput(options.onOutput);
    const reading = output.read(execution.output).catch(() => undefined);
    const stopped = Promise.withResolvers<"stopped">();
    const stop = () => stopped.resolve("stopped");
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      const begun = await Promise.race([execution.begun, execution.end, stopped.promise, pause(this.#timing.begin)]);
      if (begun === "late") throw notBegun(this.#timing.begin);
      const end = await Promise.race([execution.end, stopped.promise]);
      if (end === "stopped") {
        await this.#stop(terminal, execution.end);
        throw signal.reason;
      }
      await Promise.race([reading, pause(this.#timing.tail)]);
      return { ...report(end), ...output.finish(), terminalId: terminal.id };
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** First by Ctrl-C, as a person would; the caller then ends the terminal in any case. */
  async #stop(terminal: CommandTerminal, end: Promise<ExecutionEnd>): Promise<void> {
    terminal.interrupt();
    await Promise.race([end, pause(this.#timing.grace)]);
  }
}

function notBegun(milliseconds: number): EditorError {
  return new EditorError(
    "not_observed",
    `The shell did not say within ${milliseconds / 1000} s that it runs the command, so its terminal was ended.`,
    "A quote or a bracket may not be closed. Look whether it did something before you run it again.",
  );
}

function report(end: ExecutionEnd): Pick<CommandRun, "state" | "exitCode"> {
  return end.type === "closed"
    ? { state: "unobserved", exitCode: undefined }
    : { state: "exited", exitCode: end.exitCode };
}

/** Passes output on as it comes, up to a limit, and keeps the end of it. */
class KeptOutput {
  readonly #onOutput: (text: string) => void;
  readonly #plain = new TerminalOutput();
  #text = "";
  #truncated = false;
  #passed = 0;

  constructor(onOutput: (text: string) => void) {
    this.#onOutput = onOutput;
  }

  async read(pieces: AsyncIterable<string>): Promise<void> {
    for await (const piece of pieces) this.#take(this.#plain.push(piece));
  }

  finish(): { readonly output: string; readonly truncated: boolean } {
    return { output: this.#text, truncated: this.#truncated };
  }

  #take(text: string): void {
    if (text === "") return;
    if (this.#passed < liveOutput) this.#onOutput(text);
    this.#passed += text.length;
    this.#text += text;
    if (this.#text.length <= keptOutput) return;
    this.#text = this.#text.slice(-keptOutput);
    this.#truncated = true;
  }
}

function pause(milliseconds: number): Promise<"late"> {
  return new Promise((resolve) => {
    setTimeout(() => resolve("late"), milliseconds);
  });
}
