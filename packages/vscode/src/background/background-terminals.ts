import { type BackgroundRun, listBackgroundRuns } from "@gennai/client/background/background-runs";
import type { AgentSession } from "@gennai/client/session/agent-session";
import * as vscode from "vscode";
import { WatchedRun } from "./watched-run.ts";

/** The terminals of this window in which background runs are watched, one a run. */
export class BackgroundTerminals implements Disposable {
  readonly #log: vscode.LogOutputChannel;
  /** By session and run. */
  readonly #terminals = new Map<string, vscode.Terminal>();

  constructor(log: vscode.LogOutputChannel) {
    this.#log = log;
  }

  /** One for each run of the session that has none yet, behind what the user looks at. */
  async showRunning(session: AgentSession): Promise<void> {
    for (const run of await listBackgroundRuns(session.client, session.sessionId)) {
      if (run.isRunning) this.#terminalOf(session, run);
    }
  }

  /** Brings the terminal of a run to the front. */
  watch(session: AgentSession, run: BackgroundRun): void {
    this.#terminalOf(session, run).show();
  }

  [Symbol.dispose](): void {
    const open = [...this.#terminals.values()];
    // Nobody is asked whether to stop them: the window goes, and not its server.
    this.#terminals.clear();
    for (const terminal of open) terminal.dispose();
  }

  #terminalOf(session: AgentSession, run: BackgroundRun): vscode.Terminal {
    const key = `${session.sessionId} ${run.id} ${run.startedAt}`;
    const known = this.#terminals.get(key);
    if (known !== undefined) return known;
    const written = new vscode.EventEmitter<string>();
    const watched = new WatchedRun({
      client: session.client,
      sessionId: session.sessionId,
      run,
      write: (text) => written.fire(text),
      askToStop: async () => {
        const choice = await vscode.window.showInformationMessage(
          `${run.id} (${run.command.slice(0, 80)}) still runs in the background.`,
          "Stop It",
          "Leave It Running",
        );
        return choice === "Stop It";
      },
    });
    const terminal = vscode.window.createTerminal({
      name: `Gennai ${run.id}: ${run.command.slice(0, 40)}`,
      isTransient: true,
      iconPath: new vscode.ThemeIcon("hubot"),
      pty: {
        onDidWrite: written.event,
        open: () => void watched.watch(),
        close: () => {
          const isOpen = this.#terminals.delete(key);
          if (isOpen) this.#tell(watched.close());
          written.dispose();
        },
        handleInput: (text: string) => this.#tell(watched.input(text)),
      },
    });
    this.#terminals.set(key, terminal);
    return terminal;
  }

  #tell(work: Promise<void>): void {
    work.catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      this.#log.warn(`A background run could not be stopped: ${reason}`);
      void vscode.window.showErrorMessage(`Gennai: the background run was not stopped: ${reason}`);
    });
  }
}
