import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { ClientIdentity } from "@gennai/client/client-identity";
import type { Editor } from "@gennai/client/editor";
import type { ReplLaunch } from "@gennai/client/home/repl-home";
import type { AgentSession } from "@gennai/client/session";
import { type InvokeEvent, TodoStatus } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import * as vscode from "vscode";
import { ChangeSets } from "./apply/change-sets.ts";
import { ProposalApplier } from "./apply/proposal-applier.ts";
import { Attention } from "./attention/attention.ts";
import type { CommandId } from "./command-ids.ts";
import { commandTable } from "./commands/command-table.ts";
import { ContentDocuments } from "./documents/content-documents.ts";
import { VsCodeEditor } from "./editor/vscode-editor.ts";
import { VsCodeFiles } from "./editor/vscode-files.ts";
import { GitBranchMode } from "./git/git-branch-mode.ts";
import { openSourceControl, VsCodeGit } from "./git/vscode-git.ts";
import { HeldApprovals } from "./plan/plan-interceptor.ts";
import { homeActions } from "./repl/home-actions.ts";
import { ReplViews } from "./repl/repl-views.ts";
import { linkTransport } from "./server/link-transport.ts";
import { ServerAccess } from "./server/server-access.ts";
import { showFailure, showProblem } from "./server/server-dialogs.ts";
import type { LinkState } from "./server/server-link.ts";
import { describeProblem, NoServerError } from "./server/server-problem.ts";
import { TokenStore } from "./server/token-store.ts";
import { branchInterceptor } from "./session/branch-interceptor.ts";
import { readGovernance } from "./session/governance-facts.ts";
import { logEvent } from "./session/log-event.ts";
import { readSessionSettings } from "./session/read-settings.ts";
import type { SessionFacts } from "./session/session-facts.ts";
import { TurnProgress } from "./session/turn-progress.ts";
import { watchingInterceptor } from "./session/watching-interceptor.ts";
import { WindowClaim } from "./session/window-claim.ts";
import { WorkspaceSession } from "./session/workspace-session.ts";
import { readSettings, replSettings, settingsChoice } from "./settings/settings.ts";
import { migrateVsCodeSettings } from "./settings/vscode-migration.ts";
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
  readonly #listeners: vscode.Disposable[] = [];
  readonly #clientId = randomUUID();
  readonly #root: string;
  #timelineShown = false;
  #governanceTimer: ReturnType<typeof setTimeout> | undefined;
  #watchTimer: ReturnType<typeof setTimeout> | undefined;
  #moveTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(shell: AppShell) {
    this.#shell = shell;
    const { context, log } = shell;
    const folder = vscode.workspace.workspaceFolders?.[0];
    const root = folder?.uri.scheme === "file" ? folder.uri.fsPath : "";
    this.#root = root;
    const version = versionOf(context);
    const tokens = new TokenStore(context.secrets, { remoteName: vscode.env.remoteName, host: hostname() });
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
    const claim = new WindowClaim(
      vscode.Uri.joinPath(context.storageUri ?? context.globalStorageUri, "window.json").fsPath,
      () => this.#claimChanged(),
    );
    const access = new ServerAccess({
      ...{ folder, tokens, log, approvals, settings: readSettings },
      interceptors: [
        watchingInterceptor(() => this.#isWatching()),
        branchInterceptor({
          editingMode: (sessionId) => this.#editingMode(sessionId),
          currentBranch: () => branch.currentBranch(),
          prepare: (task) => branch.prepare(task),
          toProposalMode: (sessionId) => this.#toProposalMode(sessionId),
        }),
      ],
      onState: (state) => this.#linkChanged(state),
    });
    this.#access = access;
    const editor = this.#editor(
      new VsCodeEditor({ workspace: root, files, changeSets, terminal: this.#terminal, confirm: nobodyHere }),
    );
    const identity = { clientId: this.#clientId, name: "gennai-vscode", version };
    const sessions = new WorkspaceSession({
      connect: () => access.connect(),
      identity: (): ClientIdentity => (this.#isWatching() ? identity : { ...identity, editor }),
      choice: () => settingsChoice(readSettings(), root),
      remembered: () => context.workspaceState.get<string>(sessionKey),
      remember: async (sessionId) => context.workspaceState.update(sessionKey, sessionId),
      onEvent: (event, session) => this.#event(event, session),
      onFacts: (facts) => this.#facts(facts),
      onSession: (session) => this.#sessionChanged(session),
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
        onSession: (sessionId) => void this.#follow(sessionId),
        onProblem: (what, error) => log.warn(what, error instanceof Error ? error.message : ""),
      }),
    });
    this.#workbench = {
      ...{ context, log, version, root, tokens, sessions, views, branch, changeSets, approvals, claim },
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
      readGovernance: () => this.#readGovernance(),
    };
    this.#status = new WindowStatus({
      item: shell.status,
      mode: readSettings().editingMode,
      facts: () => sessions.facts,
      isWatching: () => this.#isWatching(),
    });
    this.#progress = new TurnProgress({
      isSeen: () => views.isVisible,
      stop: () => void this.run("stopSession", []),
    });
    this.#attention = new Attention({
      isSeen: () => !readSettings().notifications || (vscode.window.state.focused && views.isVisible),
      show: async (message) => {
        const choice = await vscode.window.showWarningMessage(message, "Show");
        if (choice === "Show") await views.reveal();
      },
      now: () => performance.now(),
      after: (milliseconds, callback) => {
        const timer = setTimeout(callback, milliseconds);
        return () => clearTimeout(timer);
      },
    });
  }

  /** Starts what goes on by itself. */
  begin(): void {
    const { context, log } = this.#shell;
    const folder = vscode.workspace.workspaceFolders?.[0];
    const { views, tokens, claim, branch } = this.#workbench;
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
        views.reload();
        this.#status.show();
      }),
    );
    if (this.#root !== "" && vscode.workspace.isTrusted) {
      void claim.begin().catch((error: unknown) => log.warn("The window's claim could not be written.", String(error)));
      void branch
        .onChange(() => void this.#readBranch())
        .then((listening) => {
          if (listening !== undefined) this.#listeners.push(new vscode.Disposable(() => listening[Symbol.dispose]()));
        });
      void this.#readBranch();
    }
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

  async showTimeline(visible: boolean): Promise<void> {
    this.#timelineShown = visible;
    if (visible)
      await this.timeline
        .load()
        .catch((error: unknown) => this.#shell.log.warn("The ledger was not read.", String(error)));
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
    clearTimeout(this.#governanceTimer);
    clearTimeout(this.#moveTimer);
    clearTimeout(this.#watchTimer);
    for (const listener of this.#listeners) listener.dispose();
    const { views, sessions, claim } = this.#workbench;
    views.dispose();
    this.#attention[Symbol.dispose]();
    this.#progress[Symbol.dispose]();
    this.#access[Symbol.dispose]();
    void Promise.allSettled([
      sessions[Symbol.asyncDispose](),
      claim[Symbol.asyncDispose](),
      this.#terminal[Symbol.asyncDispose](),
    ]);
  }

  /** Without confirmations: those stand in the REPL, which answers them itself. */
  #editor(full: VsCodeEditor): Editor {
    return {
      readFile: (request) => full.readFile(request),
      runCommand: (request, options) => full.runCommand(request, options),
      applyChanges: (request, options) => full.applyChanges(request, options),
      callModel: (request, options) => full.callModel(request, options),
      listDiagnostics: (paths) => full.listDiagnostics(paths),
      listWorkspace: (path, options) => full.listWorkspace(path, options),
    };
  }

  async #launch(place: "view" | "panel"): Promise<ReplLaunch> {
    const { context, log } = this.#shell;
    const { version } = this.#workbench;
    // The app shows itself at once; where no server runs, the user is asked meanwhile.
    const connected = this.#access.connect().then(
      () => true,
      (error: unknown) => {
        log.warn("No server yet.", error instanceof Error ? error.message : String(error));
        // What the user asked for is told; that none runs stands in the REPL.
        if (error instanceof NoServerError && error.problem.type === "launch-failed") {
          void showProblem(error.problem, this.#details());
        }
        return false;
      },
    );
    const soon = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 2000));
    const isConnected = await Promise.race([connected, soon]);
    if (!isConnected) void connected.then((later) => later && this.#announceLink());
    if (isConnected) await this.resume();
    const sessionId =
      this.#workbench.sessions.session?.sessionId ??
      (isConnected ? undefined : context.workspaceState.get<string>(sessionKey));
    return {
      clientId: `${this.#clientId}-${place}`,
      clientName: `gennai-vscode ${version}`,
      version,
      workspace: this.#root === "" ? undefined : this.#root,
      sessionId,
      state: context.workspaceState.get(`gennai.replState.${place}`) ?? null,
      settings: replSettings(readSettings()),
    };
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

  #isWatching(): boolean {
    const { state } = this.#workbench.claim;
    return state.type === "held" && state.pid !== 0;
  }

  #claimChanged(): void {
    this.#shell.log.info(
      this.#isWatching()
        ? "Another window works on this workspace: this one watches."
        : "This window works on the workspace.",
    );
    clearTimeout(this.#watchTimer);
    // The host of a window that was just reloaded may live on for a moment: nothing to tell.
    this.#watchTimer = setTimeout(async () => {
      if (!this.#isWatching()) return;
      const message = "Another window works on this workspace. This one only watches.";
      if ((await vscode.window.showInformationMessage(message, "Take Over")) !== undefined)
        await this.run("takeOver", []);
    }, 15_000);
    void this.#workbench.sessions
      .attachAgain()
      .catch((error: unknown) => this.#shell.log.warn("Not attached again.", String(error)));
    this.#status.show();
  }

  #linkChanged(state: LinkState): void {
    const before = this.#status.link.type;
    this.#status.link = state;
    if (state.type !== before) {
      this.#shell.log.info(
        `Server: ${state.type}`,
        state.type === "failed" ? describeProblem(state.problem).message : "",
      );
      void vscode.commands.executeCommand("setContext", "gennai.connected", state.type === "connected");
      this.#announceLink();
    }
    if (state.type === "lost") this.#lookForMovedServer();
  }

  #announceLink(): void {
    const state = this.#status.link;
    const { views } = this.#workbench;
    if (state.type === "connected") views.notify({ type: "server", state: "connected", message: "" });
    if (state.type === "lost") views.notify({ type: "server", state: "unreachable", message: state.reason });
    if (state.type !== "failed") return;
    const refused = ["token-missing", "token-wrong", "server-old", "server-new", "untrusted"].includes(
      state.problem.type,
    );
    views.notify({
      type: "server",
      state: refused ? "refused" : "unreachable",
      message: describeProblem(state.problem).message,
    });
  }

  /** A server that started again may listen on another port. */
  #lookForMovedServer(): void {
    clearTimeout(this.#moveTimer);
    this.#moveTimer = setTimeout(async () => {
      if (this.#status.link.type !== "lost") return;
      if (await this.#access.hasMoved().catch(() => false)) {
        this.#access.link.forget();
        await this.#workbench.sessions
          .attachAgain()
          .catch((error: unknown) => this.#shell.log.warn("Not attached again.", String(error)));
      } else this.#lookForMovedServer();
    }, 4000);
  }

  #sessionChanged(session: AgentSession): void {
    this.#shell.log.info(`Session ${session.sessionId} in ${session.workingDir}`);
    this.#status.settings = session.settings;
    void vscode.commands.executeCommand("setContext", "gennai.sessionOpen", true);
    void this.todos.load().catch((error: unknown) => this.#shell.log.warn("The todos were not read.", String(error)));
    this.#governanceSoon();
    if (this.#timelineShown) void this.showTimeline(true);
  }

  #event(event: InvokeEvent, session: AgentSession): void {
    const { log } = this.#shell;
    logEvent(log, event);
    switch (event.event.case) {
      case "todosChanged":
      case "sessionCleared":
        void this.todos.load().catch((error: unknown) => log.warn("The todos were not read.", String(error)));
        return;
      case "settingsChanged":
        void readSessionSettings(session.client, session.sessionId).then(
          (settings) => {
            this.#status.settings = settings;
          },
          (error: unknown) => log.warn("The settings were not read.", String(error)),
        );
        return;
      case "emergencyChanged":
      case "ruleViolation":
      case "rulesChanged":
      case "intentSelected":
        this.#governanceSoon();
        return;
      case "toolResult":
      case "changeSetApplied":
        if (this.#timelineShown) this.#governanceSoon();
        return;
      default:
    }
  }

  #facts(facts: SessionFacts): void {
    void vscode.commands.executeCommand("setContext", "gennai.turnRunning", facts.turn !== undefined);
    void vscode.commands.executeCommand("setContext", "gennai.proposalOpen", facts.openProposals.size > 0);
    this.#attention.update(facts.questions);
    this.#progress.update(facts.turn);
    this.#status.show();
  }

  #governanceSoon(): void {
    clearTimeout(this.#governanceTimer);
    this.#governanceTimer = setTimeout(async () => {
      await this.#readGovernance().catch((error: unknown) =>
        this.#shell.log.warn("What governs was not read.", String(error)),
      );
      if (this.#timelineShown) await this.showTimeline(true);
    }, 300);
  }

  async #readGovernance(): Promise<void> {
    const connection = this.#access.link.connection;
    if (connection === undefined) return;
    const sessionId = this.#workbench.sessions.session?.sessionId ?? "";
    this.#status.governance = await readGovernance(connection.governance, sessionId, {
      signal: AbortSignal.timeout(10_000),
    });
  }

  async #editingMode(sessionId: string): Promise<"branch" | "proposal"> {
    const { agent } = await this.#access.connect();
    return (await readSessionSettings(agent, sessionId)).editingMode;
  }

  async #toProposalMode(sessionId: string): Promise<void> {
    const session = await this.#workbench.sessions.follow(sessionId);
    await session.changeSettings({ editingMode: "proposal" }, { signal: AbortSignal.timeout(10_000) });
  }

  async #readBranch(): Promise<void> {
    this.#status.branch = (await this.#workbench.branch.currentBranch().catch(() => undefined)) ?? "";
  }

  #details(): Readonly<Record<string, string>> {
    const { baseUrl, serverPort, autoLaunch } = readSettings();
    return {
      extension: this.#workbench.version,
      editor: `${vscode.env.appName} ${vscode.version}`,
      remote: vscode.env.remoteName ?? "none",
      platform: `${process.platform} ${process.arch}`,
      settings: JSON.stringify({ baseUrl, serverPort, autoLaunch }),
      server: JSON.stringify(this.#status.link),
      session: this.#workbench.sessions.session?.sessionId ?? "none",
    };
  }
}

async function nobodyHere(): Promise<{ readonly answer: "nobody"; readonly reason: string }> {
  return { answer: "nobody", reason: "Questions are answered in the REPL." };
}

function versionOf({ extension }: vscode.ExtensionContext): string {
  const manifest: unknown = extension.packageJSON;
  const version =
    typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : undefined;
  return typeof version === "string" ? version : "0";
}
