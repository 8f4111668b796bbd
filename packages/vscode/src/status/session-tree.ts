import type { AgentClient } from "@gennai/client/connection/connection";
import {
  listForPerson,
  minute,
  type SessionSummary,
  sessionWords,
  stateOf,
  titleOf,
  watchSessions,
} from "@gennai/client/session/session-list";
import * as vscode from "vscode";

export interface SessionTreeOptions {
  /** Absolute path of the folder. */
  readonly root: string;
  /** The server that is connected; undefined: none is. */
  readonly agent: () => AgentClient | undefined;
  /** Id of the session that the window follows. */
  readonly shown: () => string | undefined;
  readonly changed: () => void;
  readonly onProblem: (error: unknown) => void;
}

const timeoutMs = 10_000;

/** The sessions of the folder, those that wait for an answer first. */
export class SessionTree implements vscode.TreeDataProvider<SessionSummary>, Disposable {
  readonly #options: SessionTreeOptions;
  #sessions: readonly SessionSummary[] = [];
  #isVisible = false;
  #watch = new AbortController();

  constructor(options: SessionTreeOptions) {
    this.#options = options;
  }

  show(visible: boolean): void {
    this.#isVisible = visible;
    this.look();
  }

  /** Lists them again if they are seen; and again, as long as another session works or waits. Without a server there are none. */
  look(): void {
    this.#watch.abort();
    this.#watch = new AbortController();
    const { signal } = this.#watch;
    const { agent, shown, onProblem } = this.#options;
    const client = agent();
    if (client === undefined) this.#become([]);
    if (!this.#isVisible || client === undefined) return;
    watchSessions((looking) => this.#list(client, looking), {
      shown: shown(),
      isSeen: () => this.#isVisible,
      signal,
    }).catch((error: unknown) => {
      if (!signal.aborted) onProblem(error);
    });
  }

  getChildren(parent?: SessionSummary): SessionSummary[] {
    return parent === undefined ? [...this.#sessions] : [];
  }

  getTreeItem(session: SessionSummary): vscode.TreeItem {
    const { shown } = this.#options;
    const item = new vscode.TreeItem(titleOf(session));
    const words = sessionWords(session, session.workingDir);
    item.id = session.sessionId;
    item.description = words;
    item.tooltip = [titleOf(session), words, minute(session.updated)].filter((word) => word !== "").join("\n");
    item.iconPath = iconOf(session, shown());
    item.command = { command: "gennai.sessions.open", title: "Open", arguments: [session] };
    item.accessibilityInformation = { label: `${titleOf(session)}, ${words}` };
    return item;
  }

  [Symbol.dispose](): void {
    this.#watch.abort();
  }

  async #list(client: AgentClient, looking: AbortSignal): Promise<readonly SessionSummary[]> {
    // A window has one folder, and acts in no other.
    const options = { elsewhere: false, signal: AbortSignal.any([looking, AbortSignal.timeout(timeoutMs)]) };
    const sessions = await listForPerson(client, this.#options.root, options);
    this.#become(sessions);
    return sessions;
  }

  #become(sessions: readonly SessionSummary[]): void {
    const isEmptyStill = sessions.length + this.#sessions.length === 0;
    this.#sessions = sessions;
    if (!isEmptyStill) this.#options.changed();
  }
}

function iconOf(session: SessionSummary, shown: string | undefined): vscode.ThemeIcon {
  switch (stateOf(session)) {
    case "waiting":
      return new vscode.ThemeIcon("question", new vscode.ThemeColor("list.warningForeground"));
    case "working":
      return new vscode.ThemeIcon("loading~spin");
    case "idle":
      return new vscode.ThemeIcon(session.sessionId === shown ? "circle-filled" : "circle-outline");
  }
}
