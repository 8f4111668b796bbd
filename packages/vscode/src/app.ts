import * as vscode from "vscode";
import { answerInChat } from "./chat/chat-participant.ts";
import type { ChatToolName } from "./chat/chat-tool-names.ts";
import { callChatTool } from "./chat/chat-tools.ts";
import { commandTable } from "./command-table.ts";
import type { Workbench } from "./commands/workbench.ts";
import { focusOpenedView } from "./repl/focus-opened-view.ts";
import { bringsServer, broughtProgram } from "./server/launch/brought-server.ts";
import { protectableBranches } from "./server/launch/launch-command.ts";
import { showFailure, showProblem } from "./server/server-dialogs.ts";
import { NoServerError } from "./server/server-problem.ts";
import { chosenFolder } from "./session/chosen-folder.ts";
import { restartWithFolder } from "./session/late-folders.ts";
import { rememberDeeds } from "./settings/did.ts";
import { modelKept } from "./settings/keep-model.ts";
import { type GennaiSettings, readSettings, replSettings } from "./settings/settings.ts";
import { migrateVsCodeSettings } from "./settings/vscode-migration.ts";
import type { SessionTree } from "./status/session-tree.ts";
import type { TimelineTree } from "./status/timeline-tree.ts";
import type { TodoTree } from "./status/todo-tree.ts";
import { windowDetails } from "./status/window-details.ts";
import { type AppShell, composeWindow, type WindowParts } from "./window-parts.ts";

/** Settings whose change may mean another server. */
const aboutServer = [
  "gennai.baseUrl",
  "gennai.serverPort",
  "gennai.serverCommand",
  "gennai.governance.commands",
  "gennai.governance.protectedBranches",
];

/** The active part of one window: begins its work, runs its commands, and ends it. */
export class AgentApp implements vscode.Disposable {
  readonly #parts: WindowParts;
  readonly #listeners: vscode.Disposable[] = [];

  constructor(shell: AppShell) {
    this.#parts = composeWindow(shell, (id) => this.run(id, []));
  }

  get todos(): TodoTree {
    return this.#workbench.todos;
  }

  get timeline(): TimelineTree {
    return this.#workbench.timeline;
  }

  get sessionTree(): SessionTree {
    return this.#workbench.sessionTree;
  }

  /** Starts what runs without a command. */
  begin(): void {
    const { access, status, sessionWatch } = this.#parts;
    const { context } = this.#workbench;
    const { views } = this.#parts;
    rememberDeeds(context.globalState);
    this.#migrateSettings();
    this.#listeners.push(
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (!change.affectsConfiguration("gennai")) return;
        if (change.affectsConfiguration("gennai.authToken")) this.#migrateSettings();
        if (aboutServer.some((setting) => change.affectsConfiguration(setting))) access.link.forget();
        if (change.affectsConfiguration("gennai.governance.intents")) sessionWatch.governanceSoon();
        void modelKept().then(() => views.notify({ type: "settings", settings: replSettings(readSettings()) }));
        status.show();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        this.#beginWork();
        views.reload();
        status.show();
      }),
    );
    if (chosenFolder(context.workspaceState) === undefined) this.#listeners.push(restartWithFolder());
    if (vscode.workspace.isTrusted) this.#beginWork();
    status.show();
  }

  /** Runs a command; errors are shown, with what to do. */
  async run(id: string, args: readonly unknown[]): Promise<void> {
    const { log } = this.#workbench;
    log.debug(`Command gennai.${id}`);
    try {
      await commandTable.get(id)?.(this.#workbench, args);
    } catch (error) {
      log.error(`gennai.${id} failed`, error instanceof Error ? (error.stack ?? error.message) : String(error));
      const details = windowDetails(this.#workbench, this.#parts.status.link);
      if (error instanceof NoServerError) await showProblem(error.problem, details);
      else await showFailure("Gennai", error, details);
    }
  }

  resolveView(view: vscode.WebviewView): void {
    const { context } = this.#workbench;
    this.#parts.views.resolveView(view);
    focusOpenedView(view, context.workspaceState);
  }

  adoptPanel(panel: vscode.WebviewPanel): void {
    this.#parts.views.adoptPanel(panel);
  }

  contentOf(uri: vscode.Uri): string {
    return this.#workbench.documents.provideTextDocumentContent(uri);
  }

  async checkTodo(id: string, done: boolean): Promise<void> {
    await this.todos.edit(id, { status: done ? "completed" : "pending" });
  }

  showTimeline(visible: boolean): Promise<void> {
    return this.#parts.sessionWatch.showTimeline(visible);
  }

  /** Answers in VS Code's own chat. Never rejects: an error becomes the answer. */
  chat(request: vscode.ChatRequest, stream: vscode.ChatResponseStream, token: vscode.CancellationToken) {
    return answerInChat(this.#workbench, request, stream, token);
  }

  callTool(name: ChatToolName, input: unknown): Promise<vscode.LanguageModelToolResult> {
    return callChatTool(this.#workbench, name, input);
  }

  /** Our tools for the editor's own agent, as programs that it starts. */
  offeredTools(): Promise<vscode.McpStdioServerDefinition[]> {
    const { context, version } = this.#workbench;
    return offeredTools({ extension: context.extensionUri.fsPath, version }, readSettings());
  }

  /** Rejects, with what to do, while nothing may run. */
  async mayOfferTools(): Promise<void> {
    await this.#workbench.readGovernance();
    if (this.#workbench.governance().emergency.stopAll)
      throw new Error(
        "Gennai's tools do not start: everything is stopped. Lift it with Gennai: Emergency: Lift a Control…",
      );
  }

  /** Continues the last session if its server runs; otherwise does nothing. */
  resume(): Promise<void> {
    return this.#workbench.sessions.resume();
  }

  dispose(): void {
    for (const listener of this.#listeners) listener.dispose();
    const { sessions, claim, branch } = this.#workbench;
    const { views, attention, blockedCalls, progress, role, linkWatch, sessionWatch, access, terminal } = this.#parts;
    views.dispose();
    const parts = [branch, attention, blockedCalls, progress, role, linkWatch, sessionWatch, access];
    for (const part of parts) part[Symbol.dispose]();
    void Promise.allSettled([
      sessions[Symbol.asyncDispose](),
      claim[Symbol.asyncDispose](),
      terminal[Symbol.asyncDispose](),
    ]);
  }

  get #workbench(): Workbench {
    return this.#parts.workbench;
  }

  #migrateSettings(): void {
    const { context, tokens, log } = this.#workbench;
    void migrateVsCodeSettings(context, tokens, chosenFolder(context.workspaceState)).catch((error: unknown) =>
      log.warn("Settings were not migrated.", String(error)),
    );
  }

  /** Only for a trusted workspace: this window's claim, and watching its branch. */
  #beginWork(): void {
    const { claim, log, root, branch } = this.#workbench;
    if (root === "") return;
    void claim
      .begin()
      .catch((error: unknown) => log.warn("This window could not note that it works on the workspace.", String(error)));
    void branch.watch();
  }
}

/**
 * Our tools for the editor's own agent: `gennai mcp serve` for each folder of this machine. None in a workspace that is not trusted, and
 * where the server is elsewhere.
 */
export async function offeredTools(
  { extension, version }: { readonly extension: string; readonly version: string },
  { serverCommand, nodePath, baseUrl, protectedBranches }: GennaiSettings,
): Promise<vscode.McpStdioServerDefinition[]> {
  if (!vscode.workspace.isTrusted || baseUrl !== "") return [];
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file");
  const brought = serverCommand === "" && bringsServer(extension);
  const start = brought
    ? await broughtProgram({ extension, nodePath, folders: folders.map(({ uri }) => uri.fsPath) })
    : { command: serverCommand || "gennai", args: [], env: {} };
  if (start === undefined) return [];
  const protect = protectableBranches(protectedBranches).flatMap((branch) => ["--protect", branch]);
  return folders.map(
    ({ name, uri }) =>
      new vscode.McpStdioServerDefinition(
        folders.length === 1 ? "Gennai" : `Gennai: ${name}`,
        start.command,
        [...start.args, "mcp", "serve", "--workspace", uri.fsPath, ...protect],
        start.env,
        version,
      ),
  );
}
