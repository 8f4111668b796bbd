import { checkedBlob } from "@gennai/client/review/change-content";
import type { AgentSession } from "@gennai/client/session/agent-session";
import type { SessionView } from "@gennai/client/view/session-view";
import { textWithoutNul } from "@gennai/protocol/diff/utf8-text";
import * as vscode from "vscode";
import { uriInWorkspace } from "../editor/workspace-uri.ts";
import type { AgentStep } from "../review/agent-lines.ts";
import type { AgentFile } from "./agents-index.ts";
import type { GitExtensionRepository } from "./git-extension-api.ts";
import { gitRepository } from "./vscode-git.ts";

export interface AgentChangesOptions {
  /** The session's folder, absolute. */
  readonly root: string;
  readonly view: () => SessionView;
  readonly onProblem: (what: string, error: unknown) => void;
}

const timeoutMs = 30_000;
/** Milliseconds: what git and the session report within this time is shown once. */
const gather = 300;

/**
 * The agent's changes as a group of their own in Source Control, as long as git has some of them not committed: files of the session's
 * change sets. It is there only while there are any.
 */
export class AgentChanges implements vscode.Disposable {
  readonly #options: AgentChangesOptions;
  #repository: GitExtensionRepository | undefined;
  #looked: Promise<void> | undefined;
  #listener: vscode.Disposable | undefined;
  #shown: { readonly control: vscode.SourceControl; readonly group: vscode.SourceControlResourceGroup } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: AgentChangesOptions) {
    this.#options = options;
  }

  /** The message that its user wrote above the group. */
  get message(): string {
    return this.#shown?.control.inputBox.value ?? "";
  }

  set message(text: string) {
    if (this.#shown !== undefined) this.#shown.control.inputBox.value = text;
  }

  /** Paths of the session's folder that the agent changed and git has not committed. */
  get paths(): readonly string[] {
    const { state } = this.#repository ?? {};
    if (state === undefined) return [];
    const { indexChanges, workingTreeChanges, untrackedChanges = [] } = state;
    const changed = new Set([...indexChanges, ...workingTreeChanges, ...untrackedChanges].map(({ uri }) => uri.fsPath));
    const { root } = this.#options;
    const written = new Set(this.#options.view().changeSets.flatMap(({ files }) => files.map(({ path }) => path)));
    return [...written].filter((path) => changed.has(vscode.Uri.joinPath(vscode.Uri.file(root), path).fsPath)).sort();
  }

  /** The session has changed. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // Git is not asked before the agent has changed something.
      if (this.#looked === undefined && this.#options.view().changeSets.length === 0) return;
      this.#looked ??= this.#look();
      void this.#looked.then(() => this.#show());
    }, gather);
  }

  /** What the agent did to each of the files. @param prefix of paths, up to the top of the work tree */
  async files(session: AgentSession, prefix: string, paths = this.paths): Promise<readonly AgentFile[]> {
    const changeSets = this.#options.view().changeSets;
    return Promise.all(
      paths.map(async (path) => {
        const changes = changeSets.flatMap(({ files }) => files.filter((file) => file.path === path));
        const steps = await Promise.all(
          changes.map(
            async ({ beforeSha256, afterSha256 }): Promise<AgentStep> => ({
              before: await textOf(session, beforeSha256),
              after: await textOf(session, afterSha256),
            }),
          ),
        );
        return { path: `${prefix}${path}`, steps };
      }),
    );
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#listener?.dispose();
    this.#shown?.control.dispose();
  }

  async #look(): Promise<void> {
    const repository = await gitRepository(vscode.Uri.file(this.#options.root));
    if (typeof repository === "string") return;
    this.#repository = repository;
    this.#listener = repository.state.onDidChange(() => this.changed());
  }

  #show(): void {
    const { paths } = this;
    void vscode.commands.executeCommand("setContext", "gennai.agentsChanges", paths.length > 0);
    if (paths.length === 0) {
      this.#shown?.control.dispose();
      this.#shown = undefined;
      return;
    }
    this.#shown ??= shownControl(vscode.Uri.file(this.#options.root));
    const { group } = this.#shown;
    void Promise.all(paths.map((path) => resourceOf(this.#options.root, path)))
      .then((states) => {
        group.resourceStates = states;
      })
      .catch((error: unknown) =>
        this.#options.onProblem("The agent's changes are not shown in Source Control.", error),
      );
  }
}

function shownControl(root: vscode.Uri) {
  const control = vscode.scm.createSourceControl("gennai", "Gennai", root);
  control.inputBox.placeholder = "Message of the commit of the agent's changes";
  control.acceptInputCommand = { command: "gennai.commitAgents", title: "Commit the Agent's Changes" };
  const group = control.createResourceGroup("agent", "Agent's Changes");
  group.hideWhenEmpty = true;
  return { control, group };
}

async function resourceOf(root: string, path: string): Promise<vscode.SourceControlResourceState> {
  const resourceUri = await uriInWorkspace(root, path);
  const command = { command: "gennai.showAgentsLines", title: "Show the Agent's Lines", arguments: [path] };
  return { resourceUri, command };
}

/** undefined: there was no file. Rejects if it is no text, or is not kept. */
async function textOf(session: AgentSession, sha256: string | undefined): Promise<string | undefined> {
  if (sha256 === undefined) return undefined;
  const signal = AbortSignal.timeout(timeoutMs);
  const text = textWithoutNul(await checkedBlob(sha256, "the file", session.blob.bind(session), { signal }));
  if (text === undefined) throw new Error("It is no text.");
  return text;
}
