import { realpath } from "node:fs/promises";
import * as vscode from "vscode";
import { EditorError } from "../editor/editor-error.ts";
import { declaredShell } from "./declared-shell.ts";
import { endProcesses } from "./end-processes.ts";
import type { CommandExecution, CommandTerminal, ExecutionEnd, Terminals } from "./terminals.ts";

/** VS Code's terminals, with bash and shell integration. */
export class VsCodeTerminals implements Terminals {
  async create(options: { readonly name: string; readonly cwd: string }): Promise<CommandTerminal> {
    const { shellPath, shellArgs, environment } = await declaredShell(vscode.env.appRoot, process.platform);
    const terminal = vscode.window.createTerminal({
      name: options.name,
      cwd: options.cwd,
      shellPath,
      shellArgs: [...shellArgs],
      env: environment,
      isTransient: true,
      iconPath: new vscode.ThemeIcon("hubot"),
    });
    return new VsCodeCommandTerminal(terminal);
  }
}

class VsCodeCommandTerminal implements CommandTerminal {
  readonly #terminal: vscode.Terminal;
  readonly #closed = Promise.withResolvers<ExecutionEnd>();
  readonly #listeners: vscode.Disposable[] = [];
  #id = "";

  constructor(terminal: vscode.Terminal) {
    this.#terminal = terminal;
    terminal.processId.then((pid) => {
      this.#id = String(pid ?? "");
    });
    this.#listeners.push(
      vscode.window.onDidCloseTerminal((closed) => {
        if (closed === terminal) this.#ended(closed.exitStatus);
      }),
    );
  }

  get id(): string {
    return this.#id;
  }

  async ready(options: { readonly milliseconds: number; readonly signal: AbortSignal }): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    // The shell reports itself first, and its directory a moment later.
    const isReady = () => this.#terminal.shellIntegration?.cwd !== undefined;
    if (isReady()) return true;
    const listener = vscode.window.onDidChangeTerminalShellIntegration(({ terminal }) => {
      if (terminal === this.#terminal && isReady()) resolve(true);
    });
    const timer = setTimeout(() => resolve(false), options.milliseconds);
    const stop = () => resolve(false);
    options.signal.addEventListener("abort", stop, { once: true });
    void this.#closed.promise.then(stop);
    try {
      return await promise;
    } finally {
      listener.dispose();
      clearTimeout(timer);
      options.signal.removeEventListener("abort", stop);
    }
  }

  async directory(): Promise<string | undefined> {
    const cwd = this.#terminal.shellIntegration?.cwd?.fsPath;
    return cwd === undefined ? undefined : realpath(cwd).catch(() => undefined);
  }

  execute(command: string): CommandExecution {
    const { shellIntegration } = this.#terminal;
    if (shellIntegration === undefined) {
      throw new EditorError("terminal_closed", "The terminal went away before the command was typed.", "Try again.");
    }
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<ExecutionEnd>();
    const execution = shellIntegration.executeCommand(command);
    this.#listeners.push(
      vscode.window.onDidStartTerminalShellExecution((event) => {
        if (event.execution === execution) begun.resolve();
      }),
      vscode.window.onDidEndTerminalShellExecution((event) => {
        if (event.execution === execution) end.resolve({ type: "exited", exitCode: event.exitCode });
      }),
    );
    void this.#closed.promise.then(end.resolve);
    return { output: execution.read(), begun: begun.promise, end: end.promise };
  }

  show(): void {
    this.#terminal.show(true);
  }

  interrupt(): void {
    this.#terminal.sendText("\u0003", false);
  }

  async kill(): Promise<void> {
    const pid = await this.#terminal.processId;
    // Before the terminal is closed: afterwards, nobody knows what it had started.
    if (pid !== undefined && this.#terminal.exitStatus === undefined) await endProcesses(pid);
    this.close();
    await this.#closed.promise;
  }

  close(): void {
    this.#terminal.dispose();
    // The event may come late, or never if the window is closing.
    setTimeout(() => this.#ended(undefined), 1000);
  }

  #ended(status: vscode.TerminalExitStatus | undefined): void {
    // A shell that a command ended, as `exit 3` does, has the command's exit code.
    const byItself = status?.reason === vscode.TerminalExitReason.Process && status.code !== undefined;
    this.#closed.resolve(byItself ? { type: "exited", exitCode: status.code } : { type: "closed" });
    for (const listener of this.#listeners) listener.dispose();
  }
}
