import { type BackgroundRun, listBackgroundRuns } from "@gennai/client/background-runs";
import type { CallToWatch } from "@gennai/client/host/window-requests";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { errorMessage } from "@gennai/protocol/error-message";
import * as vscode from "vscode";
import { showError, showInformation } from "../editor/notifications.ts";
import { backgroundRun, type RunningOutput, runningCall, WatchedOutput } from "./watched-output.ts";

/** The terminals of this window that show what the agent runs, one for each run. */
export class BackgroundTerminals implements Disposable {
  readonly #log: vscode.LogOutputChannel;
  /** Terminals by session and run, or by turn and call. */
  readonly #terminals = new Map<string, vscode.Terminal>();

  constructor(log: vscode.LogOutputChannel) {
    this.#log = log;
  }

  /** Opens a terminal for each run of the session that has none, without taking the focus. */
  async showRunning(session: AgentSession): Promise<void> {
    for (const run of await listBackgroundRuns(session.client, session.sessionId)) {
      if (run.isRunning) this.#terminalOf(session, run);
    }
  }

  /** Brings the terminal of a run to the front. */
  watch(session: AgentSession, run: BackgroundRun): void {
    this.#terminalOf(session, run).show();
  }

  /** Shows a command that a turn waits for, in a terminal at the front. */
  watchCall(session: AgentSession, call: CallToWatch): void {
    const { turnId, callId, command } = call;
    const name = `Gennai: ${command.split("\n", 1)[0]?.slice(0, 40)}`;
    this.#open(`${session.sessionId} ${turnId} ${callId}`, name, runningCall(session, call)).show();
  }

  [Symbol.dispose](): void {
    const open = [...this.#terminals.values()];
    // Disposing must not ask whether to stop the runs: the window closes, but the server goes on.
    this.#terminals.clear();
    for (const terminal of open) terminal.dispose();
  }

  #terminalOf(session: AgentSession, run: BackgroundRun): vscode.Terminal {
    const { client, sessionId } = session;
    const askToStop = async () => {
      const choice = await showInformation(
        `${run.id} (${run.command.slice(0, 80)}) still runs in the background.`,
        "Stop It",
        "Leave It Running",
      );
      return choice === "Stop It";
    };
    const name = `Gennai ${run.id}: ${run.command.slice(0, 40)}`;
    const running = { ...backgroundRun(client, sessionId, run), askToStop };
    return this.#open(`${sessionId} ${run.id} ${run.startedAt}`, name, running);
  }

  /** The open terminal of a key, or a new one, without a shell of its own. */
  #open(key: string, name: string, running: RunningOutput): vscode.Terminal {
    const known = this.#terminals.get(key);
    if (known !== undefined) return known;
    const written = new vscode.EventEmitter<string>();
    const watched = new WatchedOutput(running, (text) => written.fire(text));
    const onFailure = (error: unknown) => {
      const reason = errorMessage(error);
      this.#log.warn(`What is watched in a terminal could not be stopped: ${reason}`);
      void showError(`Gennai: ${name} was not stopped: ${reason}`);
    };
    const terminal = vscode.window.createTerminal({
      name,
      isTransient: true,
      iconPath: new vscode.ThemeIcon("hubot"),
      pty: {
        onDidWrite: written.event,
        open: () => void watched.watch(),
        close: () => {
          // It is known no more where the window closes.
          if (this.#terminals.delete(key)) watched.close().catch(onFailure);
          written.dispose();
        },
        handleInput: (text: string) => void watched.input(text).catch(onFailure),
      },
    });
    this.#terminals.set(key, terminal);
    return terminal;
  }
}
