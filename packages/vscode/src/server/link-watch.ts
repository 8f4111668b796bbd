import type { HostNotice } from "@gennai/client/host/host-messages";
import type { HostCommand } from "@gennai/client/host/window-requests";
import type { AgentSession } from "@gennai/client/session/agent-session";
import type { SessionFacts } from "@gennai/client/view/session-facts";
import { errorMessage } from "@gennai/protocol/error-message";
import * as vscode from "vscode";
import type { LinkState } from "./server-link.ts";
import { describeProblem, type ProblemStep, type ServerProblem } from "./server-problem.ts";

export interface LinkWatchOptions {
  readonly log: Pick<vscode.LogOutputChannel, "info" | "warn">;
  /** Where the state is shown. */
  readonly status: () => { link: LinkState };
  /** Tells every REPL. */
  readonly notify: (notice: HostNotice) => void;
  readonly readGovernance: () => Promise<void>;
  readonly sessions: () => {
    readonly facts: SessionFacts;
    readonly session: Pick<AgentSession, "startTurn"> | undefined;
    attachAgain(): Promise<void>;
  };
  /** The next call looks for a server again. */
  readonly forget: () => void;
  /** True if the server must be found at another address than before. */
  readonly hasMoved: () => Promise<boolean>;
  /** Starts a server that has died again, if the user wants that. */
  readonly startAgain: () => Promise<void>;
  /** True if this window, and no other one, answers for the workspace. */
  readonly answers: () => boolean;
}

const pauseBetweenLooks = 4000;
/** Milliseconds for continuing a turn. */
const goOnMs = 20_000;
/** Most turns that go on by themselves within so many milliseconds. */
const mostContinued = 3;
const continuedWithinMs = 10 * 60_000;
/** Problems that a retry cannot solve. */
const final: readonly ServerProblem["type"][] = [
  "token-missing",
  "token-wrong",
  "server-old",
  "server-new",
  "untrusted",
];

/** Steps that have a button in the REPL; others have one in the notification. */
const homeSteps: Readonly<Partial<Record<ProblemStep, HostCommand>>> = {
  "start-server": "startServer",
  "enter-token": "setToken",
  "open-settings": "openSettings",
  "open-folder": "openFolder",
  "show-log": "showLog",
};

/** Tells the status bar and the REPLs the state of the connection, and follows a server that has moved or was started again. */
export class LinkWatch implements Disposable {
  readonly #options: LinkWatchOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The turn that ran when the connection was lost. */
  #lostTurn: string | undefined;
  /** When turns were continued, in milliseconds since the epoch. */
  #continued: readonly number[] = [];
  /** Address of the last connected server. */
  #url: string | undefined;

  constructor(options: LinkWatchOptions) {
    this.#options = options;
  }

  changed(state: LinkState): void {
    this.#followConnection(state);
    const status = this.#options.status();
    const before = status.link;
    status.link = state;
    if (kindOf(state) !== kindOf(before)) {
      const { log, readGovernance } = this.#options;
      log.info(`Server: ${state.type}`, state.type === "failed" ? describeProblem(state.problem).message : "");
      void vscode.commands.executeCommand("setContext", "gennai.connected", state.type === "connected");
      this.announce();
      // Shows the governance state before the agent is used.
      if (state.type === "connected") {
        void readGovernance().catch((error: unknown) =>
          log.warn("The rules and policies could not be read.", String(error)),
        );
      }
    }
    if (state.type === "lost") {
      this.#lostTurn = this.#options.sessions().facts.turn?.turnId ?? this.#lostTurn;
      this.#lookForMovedServer();
    }
  }

  /** Tells every REPL the state of the connection. */
  announce(): void {
    const state = this.#options.status().link;
    const { notify } = this.#options;
    if (state.type === "connected") notify({ type: "server", state: "connected", message: "" });
    if (state.type === "lost") notify({ type: "server", state: "unreachable", message: state.reason });
    if (state.type !== "failed") return;
    const { problem } = state;
    const { message, steps } = describeProblem(problem);
    notify({
      type: "server",
      state: final.includes(problem.type) ? "refused" : "unreachable",
      message,
      steps: steps.flatMap((step) => homeSteps[step] ?? []),
    });
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  /** Attaches the session's own stream to the server that calls go to. */
  #followConnection(state: LinkState): void {
    if (state.type !== "connected") return;
    const before = this.#url;
    this.#url = state.url;
    if (before === undefined || before === state.url) return;
    const { sessions, log } = this.#options;
    sessions()
      .attachAgain()
      .catch((error: unknown) => log.warn("The connection to the session was not restored.", String(error)));
  }

  /** The user asked for a stop: what a dead server ran stays as it is. */
  stopAsked(): void {
    this.#lostTurn = undefined;
  }

  /** Called when the followed session's facts changed: a turn that its server left goes on. One that waited for an answer is left to the user. */
  factsChanged(): void {
    const { sessions, log } = this.#options;
    const { facts, session } = sessions();
    const { cutOffTurn } = facts;
    if (cutOffTurn === undefined || cutOffTurn.turnId !== this.#lostTurn) return;
    this.#lostTurn = undefined;
    if (cutOffTurn.waited || !this.#options.answers()) return;
    const now = Date.now();
    this.#continued = this.#continued.filter((time) => now - time < continuedWithinMs);
    // What ends its server each time it goes on must not do so for ever.
    if (this.#continued.length >= mostContinued) {
      log.warn("The turn was not continued: its server died each time.");
      return;
    }
    this.#continued = [...this.#continued, now];
    session
      ?.startTurn({ text: "", continues: cutOffTurn.turnId }, { signal: AbortSignal.timeout(goOnMs) })
      .catch((error: unknown) => log.warn("The turn was not continued.", errorMessage(error)));
  }

  /** A server that was started again may listen on another port. */
  #lookForMovedServer(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      const { status, hasMoved, startAgain, forget, sessions, log } = this.#options;
      if (status().link.type !== "lost") return;
      if (!(await hasMoved().catch(() => false))) {
        await startAgain().catch((error: unknown) =>
          log.warn("The server was not started again.", errorMessage(error)),
        );
        if (status().link.type === "lost") this.#lookForMovedServer();
        return;
      }
      forget();
      await sessions()
        .attachAgain()
        .catch((error: unknown) => log.warn("The connection to the session was not restored.", String(error)));
    }, pauseBetweenLooks);
  }
}

/** Kind of a state: a repeated failure is news only if what is said of it changes. */
function kindOf(state: LinkState): string {
  return state.type === "failed" ? `failed: ${describeProblem(state.problem).message}` : state.type;
}
