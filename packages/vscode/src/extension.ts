import type { SessionSummary } from "@gennai/client/session/session-list";
import type { LedgerRecord } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { Todo } from "@gennai/protocol/model/session/todo";
import * as vscode from "vscode";
import type { AgentApp } from "./app.ts";
import { type ChatToolName, chatToolNames } from "./chat/chat-tool-names.ts";
import { replPanelType } from "./documents/beside-repl.ts";
import { foldersKnown } from "./session/late-folders.ts";
import type { AppShell } from "./window-parts.ts";

/**
 * Only registers: all other code is in a bundle of its own, which is loaded at its first use. So a window that never uses Gennai
 * loads only this file.
 */
export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("Gennai", { log: true });
  const status = vscode.window.createStatusBarItem("gennai.status", vscode.StatusBarAlignment.Left, 50);
  const todosChanged = new vscode.EventEmitter<void>();
  const timelineChanged = new vscode.EventEmitter<void>();
  const sessionsChanged = new vscode.EventEmitter<void>();
  status.name = "Gennai";
  status.text = "$(comment-discussion) Gennai";
  status.command = "gennai.showMenu";
  status.show();

  let repl: vscode.WebviewView | undefined;
  let opened: Promise<AgentApp> | undefined;
  const app = (): Promise<AgentApp> => {
    opened ??= Promise.all([import("./app.ts"), foldersKnown()]).then(([{ AgentApp }]) => {
      const made = new AgentApp({ context, log, status, todosChanged, timelineChanged, sessionsChanged });
      context.subscriptions.push(made);
      made.begin();
      return made;
    });
    return opened;
  };

  context.subscriptions.push(
    ...[log, status, todosChanged, timelineChanged, sessionsChanged],
    ...commandsIn(context.extension.packageJSON).map((name) =>
      vscode.commands.registerCommand(name, async (...args: unknown[]) =>
        (await app()).run(name.replace("gennai.", ""), args),
      ),
    ),
    vscode.window.registerWebviewViewProvider("gennai.repl", {
      resolveWebviewView: async (view) => {
        repl = view;
        (await app()).resolveView(view);
      },
    }),
    vscode.window.registerWebviewPanelSerializer(replPanelType, {
      deserializeWebviewPanel: async (panel) => (await app()).adoptPanel(panel),
    }),
    vscode.languages.registerCodeActionsProvider({ pattern: "**" }, new ProblemActions(), {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    vscode.workspace.registerTextDocumentContentProvider("gennai-content", {
      provideTextDocumentContent: async (uri) => (await app()).contentOf(uri),
    }),
  );
  context.subscriptions.push(...chatParts(app));
  void openWalkthroughOnce(context, () => repl?.visible === true, log);
  // Trees pass items as our own objects, so the part that made an item can show it.
  const trees = new LazyTrees(app, { todosChanged, timelineChanged, sessionsChanged });
  context.subscriptions.push(trees);
  // An open session is resumed in the status bar without a command.
  if (context.workspaceState.get("gennai.sessionId") !== undefined && vscode.workspace.isTrusted) {
    setTimeout(() => void app().then((made) => made.resume()), 1000);
  }
}

/** The commands that the manifest names. */
function commandsIn(manifest: unknown): readonly string[] {
  const field = (of: unknown, name: string): unknown =>
    typeof of === "object" && of !== null ? Reflect.get(of, name) : undefined;
  const commands = field(field(manifest, "contributes"), "commands");
  return Array.isArray(commands) ? commands.map((each: unknown) => String(field(each, "command"))) : [];
}

/** What we register for VS Code's own chat, if the editor has one. */
function chatParts(app: () => Promise<AgentApp>): readonly vscode.Disposable[] {
  const hasChat = typeof vscode.chat?.createChatParticipant === "function";
  const hasTools = typeof vscode.lm?.registerTool === "function";
  const tool = (name: ChatToolName) =>
    vscode.lm.registerTool(name, { invoke: async (call) => (await app()).callTool(name, call.input) });
  const participant = () =>
    vscode.chat.createChatParticipant("gennai.agent", async (request, _context, stream, token) =>
      (await app()).chat(request, stream, token),
    );
  const hasServers = typeof vscode.lm?.registerMcpServerDefinitionProvider === "function";
  return [
    ...(hasChat ? [participant()] : []),
    ...(hasTools ? chatToolNames.map(tool) : []),
    ...(hasServers ? offeredServers(app) : []),
  ];
}

/** Our tools as an MCP server for the editor's own agent, if the user has them offered. */
function offeredServers(app: () => Promise<AgentApp>): readonly vscode.Disposable[] {
  const changed = new vscode.EventEmitter<void>();
  const isOn = (): boolean => vscode.workspace.getConfiguration("gennai").get<unknown>("copilot.offerTools") === true;
  return [
    changed,
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("gennai.copilot.offerTools")) changed.fire();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => changed.fire()),
    vscode.workspace.onDidChangeWorkspaceFolders(() => changed.fire()),
    vscode.lm.registerMcpServerDefinitionProvider("gennai.tools", {
      onDidChangeMcpServerDefinitions: changed.event,
      provideMcpServerDefinitions: async () => (isOn() ? (await app()).offeredTools() : []),
      resolveMcpServerDefinition: async (server) => {
        await (await app()).mayOfferTools();
        return server;
      },
    }),
  ];
}

class LazyTrees implements vscode.Disposable {
  readonly #views: readonly vscode.Disposable[];

  constructor(
    app: () => Promise<AgentApp>,
    {
      todosChanged,
      timelineChanged,
      sessionsChanged,
    }: Pick<AppShell, "todosChanged" | "timelineChanged" | "sessionsChanged">,
  ) {
    const todos = vscode.window.createTreeView<Todo>("gennai.todos", {
      treeDataProvider: {
        onDidChangeTreeData: todosChanged.event,
        getChildren: async (parent) => (parent === undefined ? (await app()).todos.getChildren() : []),
        getTreeItem: async (todo) => (await app()).todos.getTreeItem(todo),
      },
      dragAndDropController: {
        dragMimeTypes: [todoType],
        dropMimeTypes: [todoType],
        handleDrag: ([todo], transfer) => {
          if (todo !== undefined) transfer.set(todoType, new vscode.DataTransferItem(todo.id));
        },
        handleDrop: async (before, transfer) => {
          const id: unknown = transfer.get(todoType)?.value;
          if (typeof id === "string") await (await app()).todos.move(id, before?.id);
        },
      },
    });
    const timeline = vscode.window.createTreeView<LedgerRecord>("gennai.timeline", {
      treeDataProvider: {
        onDidChangeTreeData: timelineChanged.event,
        getChildren: async (parent) => (parent === undefined ? (await app()).timeline.getChildren() : []),
        getTreeItem: async (record) => (await app()).timeline.getTreeItem(record),
      },
    });
    const sessions = vscode.window.createTreeView<SessionSummary>("gennai.sessions", {
      treeDataProvider: {
        onDidChangeTreeData: sessionsChanged.event,
        getChildren: async (parent) => (parent === undefined ? (await app()).sessionTree.getChildren() : []),
        getTreeItem: async (session) => (await app()).sessionTree.getTreeItem(session),
      },
    });
    this.#views = [
      ...[todos, timeline, sessions],
      sessions.onDidChangeVisibility(async ({ visible }) => {
        (await app()).sessionTree.show(visible);
      }),
      todos.onDidChangeCheckboxState(async ({ items }) => {
        for (const [todo, state] of items) {
          await (await app()).checkTodo(todo.id, state === vscode.TreeItemCheckboxState.Checked);
        }
      }),
      timeline.onDidChangeVisibility(async ({ visible }) => {
        await (await app()).showTimeline(visible);
      }),
    ];
  }

  dispose(): void {
    for (const view of this.#views) view.dispose();
  }
}

const todoType = "application/vnd.code.tree.gennai.todos";

/** “Fix with Gennai” and “Explain with Gennai” for problems that language tools report in workspace files, as commands. */
class ProblemActions implements vscode.CodeActionProvider {
  provideCodeActions(
    document: vscode.TextDocument,
    _range: vscode.Range,
    { diagnostics }: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    if (diagnostics.length === 0 || !vscode.workspace.isTrusted) return [];
    if (vscode.workspace.getWorkspaceFolder(document.uri) === undefined) return [];
    const action = (title: string, command: string) => {
      const made = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      made.diagnostics = [...diagnostics];
      made.command = { title, command, arguments: [document.uri, diagnostics] };
      return made;
    };
    return [action("Fix with Gennai", "gennai.fixProblem"), action("Explain with Gennai", "gennai.explainProblem")];
  }
}

const openedKey = "gennai.walkthroughOpened";

/**
 * Opens the walkthrough when this user's VS Code runs the extension for the first time. VS Code itself does so only if a window's
 * own Extensions view installed it: not after `--install-extension`, and not in a window that is opened later. It opens behind
 * the open tab, without taking the focus; not at all if `workbench.welcomePage.walkthroughs.openOnInstall` is off.
 *
 * @param isInRepl true if the side bar shows the REPL: a person who opened it wants to type there
 */
async function openWalkthroughOnce(
  { globalState, extension }: vscode.ExtensionContext,
  isInRepl: () => boolean,
  log: vscode.LogOutputChannel,
): Promise<void> {
  if (globalState.get(openedKey) === true) return;
  await globalState.update(openedKey, true);
  const settings = vscode.workspace.getConfiguration("workbench.welcomePage.walkthroughs");
  if (settings.get("openOnInstall") === false) return;
  log.info("The walkthrough is opened: this is the first time.");
  const { activeTab } = vscode.window.tabGroups.activeTabGroup;
  // A page of VS Code itself, such as its welcome page, is not a file to work in.
  const inactive = activeTab === undefined || activeTab.input !== undefined;
  // A preview tab would be replaced.
  if (inactive && activeTab?.isPreview === true) await vscode.commands.executeCommand("workbench.action.keepEditor");
  const id = `${extension.id}#gennai.start`;
  await vscode.commands.executeCommand("workbench.action.openWalkthrough", id, { toSide: false, inactive });
  if (isInRepl()) await vscode.commands.executeCommand("gennai.repl.focus");
}
