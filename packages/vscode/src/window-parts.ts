import type { ClientIdentity } from "@gennai/client/connection/client-identity";
import { SessionPlans } from "@gennai/client/session-plans";
import { errorMessage } from "@gennai/protocol/error-message";
import * as vscode from "vscode";
import { ChangeSets } from "./apply/change-sets.ts";
import { ProposalApplier } from "./apply/proposal-applier.ts";
import { windowFolder } from "./client-workspace/window-folder.ts";
import type { CommandId } from "./command-table.ts";
import { openRule } from "./commands/show-rule.ts";
import type { Workbench } from "./commands/workbench.ts";
import { askForRest, mergeByHand } from "./documents/merge-by-hand.ts";
import { VsCodeFiles } from "./editor/files/vscode-files.ts";
import { pathOf } from "./editor/workspace-uri.ts";
import { AgentChanges } from "./git/agent-changes.ts";
import { GitBranchMode } from "./git/git-branch-mode.ts";
import { openSourceControl, VsCodeGit } from "./git/vscode-git.ts";
import { WindowBranch } from "./git/window-branch.ts";
import { LineOrigins } from "./provenance/line-origins.ts";
import { hostActions } from "./repl/host-actions.ts";
import { launchRepl, looksForServer } from "./repl/repl-launch.ts";
import { ReplViews } from "./repl/repl-views.ts";
import { composeReview } from "./review/compose-review.ts";
import { LinkWatch } from "./server/link-watch.ts";
import { ModelKeyStore } from "./server/model-key-store.ts";
import { linkTransport, ServerAccess } from "./server/server-access.ts";
import { showFailure } from "./server/server-dialogs.ts";
import { thisMachine } from "./server/this-machine.ts";
import { TokenStore } from "./server/token-store.ts";
import { chosenFolder } from "./session/chosen-folder.ts";
import { GuardedSessions } from "./session/guarded-sessions.ts";
import { branchInterceptor } from "./session/interceptors/branch-interceptor.ts";
import { heldInterceptor } from "./session/interceptors/held-interceptor.ts";
import { planInterceptor, StoredApprovals } from "./session/interceptors/plan-interceptor.ts";
import { effectOf } from "./session/interceptors/rpc-effects.ts";
import { watchingInterceptor } from "./session/interceptors/watching-interceptor.ts";
import { readSessionSettings } from "./session/read-settings.ts";
import { TurnProgress } from "./session/turn-progress.ts";
import { claimFile, WindowRole } from "./session/window-role.ts";
import { WorkspaceSession } from "./session/workspace-session.ts";
import { readSettings, settingsChoice, usersModelUrl } from "./settings/settings.ts";
import type { Attention } from "./status/attention.ts";
import type { BlockedCalls } from "./status/blocked-calls.ts";
import { SessionTree } from "./status/session-tree.ts";
import { SessionWatch } from "./status/session-watch.ts";
import { TimelineTree } from "./status/timeline-tree.ts";
import { TodoTree } from "./status/todo-tree.ts";
import { vsCodeAttention } from "./status/vscode-attention.ts";
import { vsCodeBlockedCalls } from "./status/vscode-blocked-calls.ts";
import { windowDetails } from "./status/window-details.ts";
import { WindowStatus } from "./status/window-status.ts";
import { BackgroundTerminals } from "./terminal/background-terminals.ts";
import { TerminalCommands } from "./terminal/terminal-commands.ts";
import { VsCodeTerminals } from "./terminal/vscode-terminals.ts";
import { VsCodeEditor } from "./vscode-editor.ts";

export interface AppShell {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly status: vscode.StatusBarItem;
  readonly todosChanged: vscode.EventEmitter<void>;
  readonly timelineChanged: vscode.EventEmitter<void>;
  readonly sessionsChanged: vscode.EventEmitter<void>;
}

/** All parts of one window. Each knows only those parts that are passed to it here. */
export interface WindowParts {
  readonly workbench: Workbench;
  readonly views: ReplViews;
  readonly access: ServerAccess;
  readonly terminal: TerminalCommands;
  readonly attention: Attention;
  readonly blockedCalls: BlockedCalls;
  readonly progress: TurnProgress;
  readonly status: WindowStatus;
  readonly role: WindowRole;
  readonly linkWatch: LinkWatch;
  readonly sessionWatch: SessionWatch;
}

const sessionKey = "gennai.sessionId";

/** @param run runs a command as if the user had called it */
export function composeWindow(shell: AppShell, run: (id: CommandId) => Promise<void>): WindowParts {
  const { context, log } = shell;
  const folder = chosenFolder(context.workspaceState);
  const root = folder === undefined ? "" : (pathOf(folder.uri) ?? "");
  const version = versionOf(context);
  const clientId = crypto.randomUUID();
  const warn = (what: string, error: unknown) => log.warn(what, errorMessage(error));
  const details = () => windowDetails(workbench, status.link);

  const authority = { remoteName: vscode.env.remoteName, host: thisMachine.host };
  const tokens = new TokenStore(context.secrets, authority);
  const modelKeys = new ModelKeyStore(context.secrets, authority, (backend) => usersModelUrl(readSettings(), backend));
  const files = new VsCodeFiles();
  const changeSets = new ChangeSets({ files, workspace: root });
  const approvals = new StoredApprovals();
  const terminal = new TerminalCommands({ terminals: new VsCodeTerminals(), workspace: root });
  const held = windowFolder({ folder, state: context.globalState, baseUrl: () => readSettings().baseUrl });
  const branch = new WindowBranch({
    mode: new GitBranchMode({
      git: new VsCodeGit(),
      workspace: root,
      openScm: openSourceControl,
      openFolder: () => run("openFolder"),
      files,
      ask: async ({ title, choices }) =>
        vscode.window.showQuickPick([...choices], {
          title,
          placeHolder: "Nothing starts before you choose",
          ignoreFocusOut: true,
        }),
    }),
    show: (name) => {
      status.branch = name;
    },
    onProblem: (error) => log.warn("The branch is not known.", String(error)),
  });
  const role = new WindowRole({
    log,
    notify: (notice) => views.notify(notice),
    attachAgain: () => sessions.attachAgain(),
    show: () => status.show(),
    claimFile: claimFile(context.globalStorageUri.fsPath, root),
    takeOver: () => run("takeOver"),
  });

  const linkWatch = new LinkWatch({
    log,
    status: () => status,
    notify: (notice) => views.notify(notice),
    readGovernance: () => sessionWatch.readGovernance(),
    sessions: () => sessions,
    forget: () => access.link.forget(),
    hasMoved: () => access.hasMoved(),
    startAgain: () => access.startAgain(),
    answers: () => !role.isWatching,
  });
  const access: ServerAccess = new ServerAccess({
    folder,
    places: {
      extension: context.extensionUri.fsPath,
      storage: context.globalStorageUri.fsPath,
      editor: vscode.env.appRoot,
    },
    version: versionOf(context),
    tokens,
    modelKeys,
    log,
    settings: readSettings,
    interceptors: [
      watchingInterceptor(() => role.isWatching),
      (next) => (request) => {
        if (effectOf(request.method) === "stop") linkWatch.stopAsked();
        return next(request);
      },
      heldInterceptor(() => held()?.facts),
      branchInterceptor({
        editingMode: async (sessionId) =>
          (await readSessionSettings((await access.connect()).agent, sessionId)).editingMode,
        currentBranch: () => branch.currentBranch(),
        isHeld: () => held() !== undefined,
        agreesAhead: () => readSettings().createBranch === "always",
        prepare: (task) => branch.prepare(task),
        toProposalMode: async (sessionId) => {
          const session = await sessions.follow(sessionId);
          await session.changeSettings({ editingMode: "proposal" }, { signal: AbortSignal.timeout(10_000) });
        },
      }),
      planInterceptor(approvals, async (sessionId, planId, call) =>
        new SessionPlans((await access.link.connect()).plans, sessionId).get(planId, call),
      ),
    ],
    onState: (state) => {
      linkWatch.changed(state);
      sessionTree.look();
      if (state.type === "connected") guarded.look();
    },
  });

  const sessionWatch = new SessionWatch({
    log,
    settings: readSettings,
    connection: () => access.link.connection,
    // Parts that use each other are resolved at the first use, when all are made.
    parts: () => ({
      sessions,
      status,
      attention,
      blockedCalls,
      progress,
      todos,
      timeline,
      background,
      views,
      sessionTree,
    }),
    isWatching: () => role.isWatching,
  });
  const sessions: WorkspaceSession = new WorkspaceSession({
    connect: () => access.connect(),
    find: () => access.link.connect(),
    identity: (): ClientIdentity => {
      const identity = { clientId, name: "gennai-vscode", version };
      if (role.isWatching) return identity;
      const editor = new VsCodeEditor({
        workspace: root,
        files,
        changeSets,
        terminal: thisMachine.hasDisk ? terminal : undefined,
        held: held(),
      });
      return { ...identity, editor };
    },
    choice: () => settingsChoice(readSettings(), root),
    remembered: () => context.workspaceState.get<string>(sessionKey),
    remember: async (sessionId) => context.workspaceState.update(sessionKey, sessionId),
    onEvent: (event, session) => {
      sessionWatch.onEvent(event, session);
      reviewing.unseen.onEvent(event, session);
      if (event.event.case === "changeSetApplied" || event.event.case === "changeSetUndone") agentChanges.changed();
      if (event.event.case === "toolResult" || event.event.case === "changeSetApplied") origins.recorded();
    },
    onFacts: () => {
      sessionWatch.onFacts();
      linkWatch.factsChanged();
      reviewing.review.showProposals(sessions.facts.openProposals);
    },
    onSession: (session) => {
      sessionWatch.onSession(session);
      origins.recorded();
    },
    onStream: (change) => access.link.report(change),
    onProblem: warn,
  });

  const guarded = new GuardedSessions({
    root,
    agent: () => access.link.connection?.agent,
    onEvent: (event, session) => reviewing.unseen.onEvent(event, session),
    onProblem: warn,
  });
  context.subscriptions.push({ dispose: () => guarded[Symbol.dispose]() });
  if (folder !== undefined) {
    const files = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, "**/*"));
    for (const happens of [files.onDidCreate, files.onDidChange, files.onDidDelete]) happens(() => guarded.look());
    context.subscriptions.push(files);
  }
  const agentChanges = new AgentChanges({ root, view: () => sessions.view, onProblem: warn });
  context.subscriptions.push(agentChanges);
  const background = new BackgroundTerminals(log);
  context.subscriptions.push({ dispose: () => background[Symbol.dispose]() });
  const todos = new TodoTree(sessions, {
    changed: () => shell.todosChanged.fire(),
    onProblem: (error) => void showFailure("The todo list was not changed", error, details()),
  });
  const sessionTree = new SessionTree({
    root,
    // Nobody knows what sessions do on a server that was lost.
    agent: () => (status.link.type === "connected" ? access.link.connection?.agent : undefined),
    shown: () => sessions.session?.sessionId,
    changed: () => shell.sessionsChanged.fire(),
    onProblem: (error) => warn("The sessions could not be listed.", error),
  });
  context.subscriptions.push({ dispose: () => sessionTree[Symbol.dispose]() });
  const ledger = () => {
    const { session } = sessions;
    const governance = access.link.connection?.governance;
    return session === undefined || governance === undefined ? undefined : { governance, sessionId: session.sessionId };
  };
  const timeline = new TimelineTree(ledger, () => shell.timelineChanged.fire());
  const origins = new LineOrigins({ root, source: ledger, settings: readSettings, onProblem: warn });
  context.subscriptions.push(origins);
  const reviewing = composeReview({
    context,
    root,
    files,
    sessions: () => sessions,
    notifyOthers: (place, notice) => views.notifyOthers(place, notice),
    onProblem: warn,
  });
  const views: ReplViews = new ReplViews({
    extensionUri: context.extensionUri,
    isTrusted: () => vscode.workspace.isTrusted,
    onVisible: () => attention.update(sessions.facts.questions),
    host: (place) => {
      const stateKey = `gennai.replState.${place}`;
      // The search starts while the page loads; a page that is loaded again searches again.
      let looking: Promise<boolean> | undefined = looksForServer(workbench, details);
      const connected = (): Promise<boolean> => {
        const first = looking ?? looksForServer(workbench, details);
        looking = undefined;
        return first;
      };
      return {
        transport: linkTransport(access),
        actions: hostActions(() => workbench),
        launch: () =>
          launchRepl(place, {
            workbench,
            clientId,
            connected: connected(),
            state: context.workspaceState.get(stateKey) ?? null,
            onBegin: (isConnected) => {
              views.notify({ type: "role", watching: role.isWatching });
              views.notify({ type: "window", focused: vscode.window.state.focused });
              if (!isConnected) linkWatch.announce();
            },
            onLate: () => linkWatch.announce(),
          }),
        saveState: (state) => void context.workspaceState.update(stateKey, state),
        saveReview: (state) => reviewing.reviews.set(state, place),
        showsSession: (sessionId) => void sessions.showsSession(sessionId),
        onProblem: (what, error) => log.warn(what, errorMessage(error)),
      };
    },
  });

  const workbench: Workbench = {
    context,
    log,
    version,
    root,
    tokens,
    modelKeys,
    sessions,
    views,
    ...reviewing,
    files,
    branch,
    agentChanges,
    background,
    changeSets,
    approvals,
    todos,
    timeline,
    sessionTree,
    origins,
    claim: role.claim,
    link: access.link,
    settings: readSettings,
    applier: new ProposalApplier({
      files,
      changeSets,
      workspace: root,
      ask: askForRest("Apply"),
      merge: (overlaps) => mergeByHand("Proposed", overlaps, workbench),
    }),
    governance: () => status.governance,
    connect: () => access.connect(),
    startServer: () => access.start(),
    session: async () => {
      await access.connect();
      return sessions.open();
    },
    readGovernance: () => sessionWatch.readGovernance(),
  };
  const status = new WindowStatus({
    item: shell.status,
    rulesItem: rulesStatusItem(context),
    mode: readSettings().editingMode,
    facts: () => sessions.facts,
    isWatching: () => role.isWatching,
  });
  const progress = new TurnProgress({
    isSeen: () => views.isVisible,
    stop: () => void run("stopSession"),
  });
  const attention = vsCodeAttention({
    isSeen: () => !readSettings().notifications || (vscode.window.state.focused && views.isVisible),
  });
  context.subscriptions.push(
    vscode.window.onDidChangeWindowState(({ focused }) => {
      views.notify({ type: "window", focused });
      attention.update(sessions.facts.questions);
      if (focused) sessionTree.look();
    }),
  );
  const blockedCalls = vsCodeBlockedCalls({
    settings: readSettings,
    showRule: (call) => openRule(call, workbench).catch((error) => warn("The rule was not opened.", error)),
  });
  return {
    workbench,
    views,
    access,
    terminal,
    attention,
    blockedCalls,
    progress,
    status,
    role,
    linkWatch,
    sessionWatch,
  };
}

/** A second item in the status bar, for damage control. */
function rulesStatusItem(context: vscode.ExtensionContext): vscode.StatusBarItem {
  const item = vscode.window.createStatusBarItem("gennai.rules", vscode.StatusBarAlignment.Left, 49);
  item.name = "Gennai Damage-Control";
  item.command = "gennai.showRule";
  context.subscriptions.push(item);
  return item;
}

function versionOf({ extension }: vscode.ExtensionContext): string {
  const manifest: unknown = extension.packageJSON;
  const version =
    typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : undefined;
  return typeof version === "string" ? version : "0";
}
