import type { Editor } from "@gennai/client/bridge/editor";
import type { ClientIdentity } from "@gennai/client/connection/client-identity";
import { TodoStatus } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import * as vscode from "vscode";
import { ChangeSets } from "./apply/change-sets.ts";
import { ProposalApplier } from "./apply/proposal-applier.ts";
import type { Attention } from "./attention/attention.ts";
import { vsCodeAttention } from "./attention/vscode-attention.ts";
import type { CommandId } from "./command-ids.ts";
import { commandTable } from "./commands/command-table.ts";
import { ContentDocuments } from "./documents/content-documents.ts";
import { VsCodeFolderFiles } from "./editor/folder-files.ts";
import { HeldFolder } from "./editor/held-folder.ts";
import { heldFolderId } from "./editor/held-folder-id.ts";
import { sessionEditor } from "./editor/session-editor.ts";
import { VsCodeFiles } from "./editor/vscode-files.ts";
import { pathOf } from "./editor/workspace-uri.ts";
import { GitBranchMode } from "./git/git-branch-mode.ts";
import { openSourceControl, VsCodeGit } from "./git/vscode-git.ts";
import { HeldApprovals } from "./plan/plan-interceptor.ts";
import { homeActions } from "./repl/home-actions.ts";
import { launchRepl } from "./repl/repl-launch.ts";
import { type ReplPlace, ReplViews } from "./repl/repl-views.ts";
import { isHeldByWindow } from "./server/held-by-window.ts";
import { linkTransport } from "./server/link-transport.ts";
import { LinkWatch } from "./server/link-watch.ts";
import { ModelKeyStore } from "./server/model-key-store.ts";
import { ServerAccess } from "./server/server-access.ts";
import { showFailure, showProblem } from "./server/server-dialogs.ts";
import { NoServerError } from "./server/server-problem.ts";
import { thisMachine } from "./server/this-machine.ts";
import { TokenStore } from "./server/token-store.ts";
import { branchInterceptor } from "./session/branch-interceptor.ts";
import { heldInterceptor } from "./session/held-interceptor.ts";
import { readSessionSettings } from "./session/read-settings.ts";
import { SessionWatch } from "./session/session-watch.ts";
import { TurnProgress } from "./session/turn-progress.ts";
import { watchingInterceptor } from "./session/watching-interceptor.ts";
import { claimFile, WindowRole } from "./session/window-role.ts";
import { WorkspaceSession } from "./session/workspace-session.ts";
import { readSettings, replSettings, settingsChoice } from "./settings/settings.ts";
import { migrateVsCodeSettings } from "./settings/vscode-migration.ts";
import { windowDetails } from "./status/window-details.ts";
import { WindowStatus } from "./status/window-status.ts";
import { TerminalCommands } from "./terminal/terminal-commands.ts";
import { VsCodeTerminals } from "./terminal/vscode-terminals.ts";
import { TimelineTree } from "./trees/timeline-tree.ts";
import { TodoTree } from "./trees/todo-tree.ts";
import type { Workbench } from "./workbench.ts";

export interface AppShell {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly status: vscode.StatusBarItem;
  readonly todosChanged: vscode.EventEmitter<void>;
  readonly timelineChanged: vscode.EventEmitter<void>;
}

const sessionKey = "gennai.sessionId";

/** Everything of one window that does something. */
export class AgentApp implements vscode.Disposable {
  readonly todos: TodoTree;
  readonly timeline: TimelineTree;
  readonly #shell: AppShell;
  readonly #workbench: Workbench;
  readonly #access: ServerAccess;
  readonly #terminal: TerminalCommands;
  readonly #attention: Attention;
  readonly #progress: TurnProgress;
  readonly #status: WindowStatus;
  readonly #role: WindowRole;
  readonly #linkWatch: LinkWatch;
  readonly #sessionWatch: SessionWatch;
  readonly #listeners: vscode.Disposable[] = [];
  #branchWatch: Disposable | undefined;
  readonly #clientId = crypto.randomUUID();
  readonly #root: string;

  constructor(shell: AppShell) {
    this.#shell = shell;
    const { context, log } = shell;
    const folder = vscode.workspace.workspaceFolders?.[0];
    const root = folder === undefined ? "" : (pathOf(folder.uri) ?? "");
    this.#root = root;
    const holder =
      folder === undefined
        ? undefined
        : new HeldFolder(new VsCodeFolderFiles(folder.uri), {
            id: heldFolderId(context.globalState, folder.uri),
            name: folder.name,
            root: folder.uri.path,
            home: thisMachine.home,
            platform: thisMachine.platform,
            // Those for the terminal are asked for by themselves.
            commands: "none",
          });
    const held = (): HeldFolder | undefined =>
      isHeldByWindow({ baseUrl: readSettings().baseUrl, hasDisk: thisMachine.hasDisk }) ? holder : undefined;
    const version = versionOf(context);
    const authority = { remoteName: vscode.env.remoteName, host: thisMachine.host };
    const tokens = new TokenStore(context.secrets, authority);
    const modelKeys = new ModelKeyStore(context.secrets, authority);
    const files = new VsCodeFiles();
    const changeSets = new ChangeSets({ files, workspace: root });
    const approvals = new HeldApprovals();
    const branch = new GitBranchMode({
      ...{ git: new VsCodeGit(), workspace: root, openScm: openSourceControl },
      ask: async ({ title, choices }) =>
        vscode.window.showQuickPick([...choices], {
          title,
          placeHolder: "Nothing starts before you choose",
          ignoreFocusOut: true,
        }),
    });
    this.#terminal = new TerminalCommands({ terminals: new VsCodeTerminals(), workspace: root });
    const later = { workbench: () => this.#workbench, status: () => this.#status };
    this.#role = new WindowRole({
      ...later,
      claimFile: claimFile(context.globalStorageUri.fsPath, root),
      takeOver: () => this.run("takeOver", []),
    });
    this.#linkWatch = new LinkWatch({ ...later, hasMoved: () => access.hasMoved() });
    this.#sessionWatch = new SessionWatch({
      ...later,
      attention: () => this.#attention,
      progress: () => this.#progress,
    });
    const { claim } = this.#role;
    const access = new ServerAccess({
      ...{ folder, tokens, modelKeys, log, approvals, settings: readSettings },
      interceptors: [
        watchingInterceptor(() => this.#role.isWatching),
        heldInterceptor(() => held()?.facts),
        branchInterceptor({
          editingMode: (sessionId) => this.#editingMode(sessionId),
          currentBranch: () => branch.currentBranch(),
          prepare: async (task) => {
            const outcome = await branch.prepare(task);
            this.#watchBranch();
            return outcome;
          },
          toProposalMode: (sessionId) => this.#toProposalMode(sessionId),
        }),
      ],
      onState: (state) => this.#linkWatch.changed(state),
    });
    this.#access = access;
    const editor = (): Editor =>
      sessionEditor({
        ...{ workspace: root, files, changeSets, terminal: this.#terminal },
        ...{ held: held(), hasTerminal: thisMachine.hasDisk },
      });
    const identity = { clientId: this.#clientId, name: "gennai-vscode", version };
    const sessions = new WorkspaceSession({
      connect: () => access.connect(),
      identity: (): ClientIdentity => (this.#role.isWatching ? identity : { ...identity, editor: editor() }),
      choice: () => settingsChoice(readSettings(), root),
      remembered: () => context.workspaceState.get<string>(sessionKey),
      remember: async (sessionId) => context.workspaceState.update(sessionKey, sessionId),
      onEvent: (event, session) => this.#sessionWatch.onEvent(event, session),
      onFacts: () => this.#sessionWatch.onFacts(),
      onSession: (session) => this.#sessionWatch.onSession(session),
      onStream: (change) => access.link.report(change),
      onProblem: (what, error) => log.warn(what, error instanceof Error ? error.message : String(error)),
    });
    this.todos = new TodoTree(() => sessions.session, {
      changed: () => shell.todosChanged.fire(),
      onProblem: (error) => void showFailure("The todo list was not changed", error, this.#details()),
    });
    this.timeline = new TimelineTree(
      () => {
        const { session } = sessions;
        const governance = access.link.connection?.governance;
        return session === undefined || governance === undefined
          ? undefined
          : { governance, sessionId: session.sessionId };
      },
      () => shell.timelineChanged.fire(),
    );
    const views = new ReplViews({
      extensionUri: context.extensionUri,
      isTrusted: () => vscode.workspace.isTrusted,
      onVisible: () => this.#attention.update(sessions.facts.questions),
      host: (place) => ({
        transport: linkTransport(access.link),
        actions: homeActions(() => this.#workbench),
        launch: () => this.#launch(place),
        saveState: (state) => void context.workspaceState.update(`gennai.replState.${place}`, state),
        showsSession: (sessionId) => void this.#follow(sessionId),
        onProblem: (what, error) => log.warn(what, error instanceof Error ? error.message : ""),
      }),
    });
    this.#workbench = {
      ...{ context, log, version, root, tokens, modelKeys, sessions, views, branch, changeSets, approvals, claim },
      settings: readSettings,
      link: access.link,
      documents: new ContentDocuments(),
      todos: this.todos,
      timeline: this.timeline,
      applier: new ProposalApplier({ files, changeSets, workspace: root }),
      governance: () => this.#status.governance,
      connect: () => access.connect(),
      startServer: () => access.start(),
      session: async () => {
        await access.connect();
        return sessions.open();
      },
      readGovernance: () => this.#sessionWatch.readGovernance(),
    };
    this.#status = new WindowStatus({
      item: shell.status,
      mode: readSettings().editingMode,
      facts: () => sessions.facts,
      isWatching: () => this.#role.isWatching,
    });
    this.#progress = new TurnProgress({
      isSeen: () => views.isVisible,
      stop: () => void this.run("stopSession", []),
    });
    this.#attention = vsCodeAttention({
      isSeen: () => !readSettings().notifications || (vscode.window.state.focused && views.isVisible),
      reveal: () => views.reveal(),
    });
  }

  /** Starts what goes on by itself. */
  begin(): void {
    const { context, log } = this.#shell;
    const folder = vscode.workspace.workspaceFolders?.[0];
    const { views, tokens } = this.#workbench;
    const migrate = () =>
      void migrateVsCodeSettings(context, tokens, folder).catch((error: unknown) =>
        log.warn("Settings were not migrated.", String(error)),
      );
    migrate();
    this.#listeners.push(
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (!change.affectsConfiguration("gennai")) return;
        if (change.affectsConfiguration("gennai.authToken")) migrate();
        if (change.affectsConfiguration("gennai.baseUrl") || change.affectsConfiguration("gennai.serverPort"))
          this.#access.link.forget();
        views.notify({ type: "settings", settings: replSettings(readSettings()) });
        this.#status.show();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        this.#beginWork();
        views.reload();
        this.#status.show();
      }),
    );
    if (vscode.workspace.isTrusted) this.#beginWork();
    this.#status.show();
  }

  /** Runs a command; what goes wrong is shown, with what to do. */
  async run(id: CommandId, args: readonly unknown[]): Promise<void> {
    this.#shell.log.debug(`Command gennai.${id}`);
    try {
      await commandTable[id](this.#workbench, args);
    } catch (error) {
      this.#shell.log.error(
        `gennai.${id} failed`,
        error instanceof Error ? (error.stack ?? error.message) : String(error),
      );
      if (error instanceof NoServerError) await showProblem(error.problem, this.#details());
      else await showFailure("Gennai", error, this.#details());
    }
  }

  resolveView(view: vscode.WebviewView): void {
    this.#workbench.views.resolveView(view);
  }

  adoptPanel(panel: vscode.WebviewPanel): void {
    this.#workbench.views.adoptPanel(panel);
  }

  contentOf(uri: vscode.Uri): string {
    return this.#workbench.documents.provideTextDocumentContent(uri);
  }

  async checkTodo(id: string, done: boolean): Promise<void> {
    await this.todos.edit(id, { status: done ? TodoStatus.COMPLETED : TodoStatus.PENDING });
  }

  showTimeline(visible: boolean): Promise<void> {
    return this.#sessionWatch.showTimeline(visible);
  }

  /** Goes on with the session of the last time, if its server runs; says nothing if not. */
  async resume(): Promise<void> {
    const sessionId = this.#shell.context.workspaceState.get<string>(sessionKey);
    if (sessionId === undefined || this.#workbench.sessions.session !== undefined) return;
    await this.#access.link.connect().then(
      () => this.#follow(sessionId),
      () => undefined,
    );
  }

  dispose(): void {
    for (const listener of this.#listeners) listener.dispose();
    this.#branchWatch?.[Symbol.dispose]();
    const { views, sessions, claim } = this.#workbench;
    views.dispose();
    for (const part of [
      this.#attention,
      this.#progress,
      this.#role,
      this.#linkWatch,
      this.#sessionWatch,
      this.#access,
    ]) {
      part[Symbol.dispose]();
    }
    void Promise.allSettled([
      sessions[Symbol.asyncDispose](),
      claim[Symbol.asyncDispose](),
      this.#terminal[Symbol.asyncDispose](),
    ]);
  }

  /** What only a trusted workspace gets: this window's claim, and a look at its branch. */
  #beginWork(): void {
    if (this.#root === "") return;
    const { claim, log } = this.#workbench;
    void claim.begin().catch((error: unknown) => log.warn("The window's claim could not be written.", String(error)));
    this.#watchBranch();
  }

  #launch(place: ReplPlace): ReturnType<typeof launchRepl> {
    const { workspaceState } = this.#shell.context;
    return launchRepl(place, {
      workbench: this.#workbench,
      clientId: this.#clientId,
      remembered: workspaceState.get<string>(sessionKey),
      state: workspaceState.get(`gennai.replState.${place}`) ?? null,
      connect: () => this.#access.connect(),
      resume: () => this.resume(),
      onLate: () => this.#linkWatch.announce(),
      details: () => this.#details(),
    });
  }

  async #follow(sessionId: string): Promise<void> {
    if (sessionId === "") return;
    try {
      await this.#workbench.sessions.follow(sessionId);
    } catch (error) {
      this.#shell.log.warn(
        `Session ${sessionId} cannot be followed.`,
        error instanceof Error ? error.message : String(error),
      );
    }
  }

  async #editingMode(sessionId: string): Promise<"branch" | "proposal"> {
    const { agent } = await this.#access.connect();
    return (await readSessionSettings(agent, sessionId)).editingMode;
  }

  async #toProposalMode(sessionId: string): Promise<void> {
    const session = await this.#workbench.sessions.follow(sessionId);
    await session.changeSettings({ editingMode: "proposal" }, { signal: AbortSignal.timeout(10_000) });
  }

  /** Also when there was no repository before. */
  #watchBranch(): void {
    const { branch, log } = this.#workbench;
    const show = (name: string | undefined) => {
      this.#status.branch = name ?? "";
    };
    void branch.watchBranch(show).then(
      (watching) => {
        this.#branchWatch?.[Symbol.dispose]();
        this.#branchWatch = watching;
      },
      (error: unknown) => log.warn("The branch is not known.", String(error)),
    );
  }

  #details(): Readonly<Record<string, string>> {
    return windowDetails(this.#workbench, this.#status.link);
  }
}

function versionOf({ extension }: vscode.ExtensionContext): string {
  const manifest: unknown = extension.packageJSON;
  const version =
    typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : undefined;
  return typeof version === "string" ? version : "0";
}
