import assert from "node:assert/strict";
import { join } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";
import { connect } from "@gennai/client/connection/connection";
import type { HostNotice } from "@gennai/client/host/host-messages";
import { AgentSession } from "@gennai/client/session/agent-session";
import { SessionView } from "@gennai/client/view/session-view";
import { sha256Hex } from "@gennai/protocol/digest";
import { AgentService, Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { InvokeEventSchema, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import * as vscode from "vscode";
import { offeredTools } from "../../../../packages/vscode/src/app.ts";
import { answerInChat } from "../../../../packages/vscode/src/chat/chat-participant.ts";
import { callChatTool } from "../../../../packages/vscode/src/chat/chat-tools.ts";
import * as add from "../../../../packages/vscode/src/commands/add-commands.ts";
import * as problem from "../../../../packages/vscode/src/commands/problem-commands.ts";
import type { Command, Workbench } from "../../../../packages/vscode/src/commands/workbench.ts";
import { ContentDocuments } from "../../../../packages/vscode/src/documents/content-documents.ts";
import { hostActions } from "../../../../packages/vscode/src/repl/host-actions.ts";
import { readSettings } from "../../../../packages/vscode/src/settings/settings.ts";
import { hostTest } from "./host-test.ts";
import { workspaceRoot } from "./workspace.ts";

const fileUri = (path: string) => vscode.Uri.file(join(workspaceRoot(), path));

function viewAfter(event: MessageInitShape<typeof InvokeEventSchema>): SessionView {
  const view = new SessionView();
  view.apply(create(InvokeEventSchema, { seq: 1n, ...event }));
  return view;
}

/** What a command tells the REPL. */
async function told(command: Command, args: readonly unknown[] = []): Promise<readonly HostNotice[]> {
  const notices: HostNotice[] = [];
  const views = { reveal: async () => undefined, ask: (notice: HostNotice) => void notices.push(notice) };
  await command({ root: workspaceRoot(), views, session: async () => undefined } as unknown as Workbench, args);
  return notices;
}

async function withProblem(work: (uri: vscode.Uri, range: vscode.Range) => Promise<void>): Promise<void> {
  const uri = fileUri("src/a.ts");
  await vscode.window.showTextDocument(uri);
  const range = new vscode.Range(1, 13, 1, 14);
  const found = new vscode.Diagnostic(range, "'b' is never used.", vscode.DiagnosticSeverity.Warning);
  found.source = "lint";
  const collection = vscode.languages.createDiagnosticCollection("test");
  collection.set(uri, [found]);
  try {
    await work(uri, range);
  } finally {
    collection.dispose();
  }
}

const fixText = "Fix this problem in @src/a.ts:2:\n\n~~~\nsrc/a.ts:2:14 warning (lint): 'b' is never used.\n~~~";

hostTest("a problem offers Fix with Gennai and Explain with Gennai, and nothing else does", async () => {
  await withProblem(async (uri, range) => {
    const actions = async (at: vscode.Range) => {
      const found = await vscode.commands.executeCommand<readonly vscode.CodeAction[]>(
        "vscode.executeCodeActionProvider",
        uri,
        at,
      );
      return found.filter(({ title }) => title.includes("Gennai"));
    };
    await vscode.extensions.getExtension("gennai.gennai")?.activate();
    // That there are more code actions now cancels what is asked in that moment.
    let offered: readonly vscode.CodeAction[] = [];
    while (offered.length === 0) offered = await actions(range).catch(() => []);
    assert.deepEqual(
      offered.map(({ title }) => title),
      ["Fix with Gennai", "Explain with Gennai"],
    );
    assert.equal(offered[0]?.command?.command, "gennai.fixProblem");
    const args = offered[0]?.command?.arguments ?? [];
    assert.deepEqual(await told(problem.fixProblem, args), [{ type: "prompt", text: fixText, send: true }]);
    assert.deepEqual(await actions(new vscode.Range(0, 0, 0, 1)), []);
  });
});

hostTest("without a code action the problem at the caret is meant", async () => {
  await withProblem(async (_uri, range) => {
    const editor = vscode.window.activeTextEditor;
    assert.ok(editor);
    editor.selection = new vscode.Selection(range.start, range.start);
    assert.deepEqual(await told(problem.fixProblem), [{ type: "prompt", text: fixText, send: true }]);
    const [explained] = await told(problem.explainProblem);
    assert.ok(explained?.type === "prompt" && !explained.send && explained.text.includes("Change nothing."));
    editor.selection = new vscode.Selection(0, 0, 0, 0);
    assert.deepEqual(await told(problem.fixProblem), []);
  });
});

hostTest("the selection is mentioned by its lines, a file and a folder by their names", async () => {
  const editor = await vscode.window.showTextDocument(fileUri("src/a.ts"));
  editor.selection = new vscode.Selection(0, 3, 2, 0);
  assert.deepEqual(await told(add.addSelection), [{ type: "mention", mentions: ["@src/a.ts:1-2"] }]);
  editor.selection = new vscode.Selection(0, 0, 0, 0);
  assert.deepEqual(await told(add.addSelection), [{ type: "mention", mentions: ["@src/a.ts"] }]);
  const uris = [fileUri("src"), fileUri("docs/read me.md")];
  assert.deepEqual(await told(add.addFile, [uris[0], uris]), [
    { type: "mention", mentions: ["@src", '@"docs/read me.md"'] },
  ]);
});

hostTest("what lies elsewhere is not added", async () => {
  assert.deepEqual(await told(add.addFile, [vscode.Uri.file("/etc/hosts")]), []);
});

hostTest("a change of Source Control is mentioned as one", async () => {
  const states = [{ resourceUri: fileUri("src/a.ts") }, { resourceUri: fileUri("docs/read me.md") }];
  assert.deepEqual(await told(add.addChange, states), [
    { type: "mention", mentions: ["@diff:src/a.ts", '@"diff:docs/read me.md"'] },
  ]);
});

hostTest("the message of a failed test goes along", async () => {
  const message = new vscode.TestMessage("values differ");
  message.location = new vscode.Location(fileUri("src/a.ts"), new vscode.Position(2, 0));
  assert.deepEqual(await told(add.addTestFailure, [{ test: { label: "adds" }, message }]), [
    { type: "attach", title: "Failed test adds", text: "At src/a.ts:3\n\nvalues differ" },
  ]);
});

hostTest("what is selected in a terminal goes along, and the clipboard is as it was", async () => {
  await vscode.env.clipboard.writeText("mine");
  const terminal = vscode.window.createTerminal({ name: "build" });
  try {
    const shown = new Promise<void>((resolve) => {
      const listener = vscode.window.onDidChangeActiveTerminal((active) => {
        if (active !== terminal) return;
        listener.dispose();
        resolve();
      });
    });
    terminal.show();
    await shown;
    terminal.sendText("echo built-$((1 + 1))");
    for (;;) {
      await vscode.commands.executeCommand("workbench.action.terminal.selectAll");
      const [notice] = await told(add.addTerminalSelection);
      if (notice?.type === "attach" && notice.text.includes("built-2")) {
        assert.equal(notice.title, "Selected in the terminal build");
        break;
      }
    }
    assert.equal(await vscode.env.clipboard.readText(), "mine");
  } finally {
    terminal.dispose();
  }
});

hostTest("the chat's participant answers by a turn of the session, with what was attached as mentions", async () => {
  const started: string[] = [];
  const session = await sessionThatSays(started, [
    { case: "assistantDelta", value: { text: "Look" } },
    { case: "toolCall", value: { id: "1", name: "Read", argumentsJson: "{}" } },
    { case: "assistantDelta", value: { text: "ed." } },
  ]);
  const said: string[] = [];
  const stream = {
    markdown: (text: string | vscode.MarkdownString) => void said.push(typeof text === "string" ? text : text.value),
    progress: (text: string) => void said.push(`[${text}]`),
    button: () => undefined,
  };
  const at = new vscode.Location(fileUri("src/a.ts"), new vscode.Range(0, 0, 1, 3));
  const references = [
    { id: "1", value: at },
    { id: "2", value: fileUri("docs/read me.md") },
    { id: "3", value: vscode.Uri.file("/etc/hosts") },
  ];
  const workbench = {
    root: workspaceRoot(),
    session: async () => session,
    settings: () => ({ scenario: "", showThinking: false }),
  } as unknown as Workbench;
  const token = new vscode.CancellationTokenSource().token;
  const result = await answerInChat(workbench, { prompt: "What is this?", references }, stream, token);
  assert.deepEqual(result, { metadata: { sessionId: "s" } });
  assert.deepEqual(started, ['What is this?\n\n@src/a.ts:1-2\n\n@"docs/read me.md"']);
  assert.deepEqual(said, ["[Gennai]", "Look", "[Read]", "ed."]);
});

hostTest("what goes wrong is the chat's answer", async () => {
  const workbench = {
    root: workspaceRoot(),
    session: async () => {
      throw new Error("No server answers.");
    },
  } as unknown as Workbench;
  const stream = { markdown: () => undefined, progress: () => undefined, button: () => undefined };
  const token = new vscode.CancellationTokenSource().token;
  assert.deepEqual(await answerInChat(workbench, { prompt: "hi", references: [] }, stream, token), {
    errorDetails: { message: "No server answers." },
  });
});

hostTest("language models of the editor's chat have the tools", async () => {
  // Activating registers the participant as well, which nobody can ask for.
  await vscode.extensions.getExtension("gennai.gennai")?.activate();
  const names = vscode.lm.tools.map(({ name }) => name).filter((name) => name.startsWith("gennai"));
  assert.deepEqual(names.toSorted(), ["gennai_explain_decision", "gennai_session_changes"]);
});

hostTest("the editor's own agent is offered our tools for each folder, as a program of the extension", async () => {
  const extension = vscode.extensions.getExtension("gennai.gennai");
  assert.ok(extension);
  const version: unknown = Object(extension.packageJSON)["version"];
  const settings = { ...readSettings(), protectedBranches: ["prod/*"] };
  const made = await offeredTools({ extension: extension.extensionPath, version: String(version) }, settings);
  const [definition, ...others] = made;
  assert.ok(definition);
  assert.equal(others.length, 0);
  assert.deepEqual(definition.args.slice(-6), ["mcp", "serve", "--workspace", workspaceRoot(), "--protect", "prod/*"]);
  assert.equal(definition.version, version);
  assert.deepEqual(await offeredTools({ extension: "/", version: "1" }, { ...settings, baseUrl: "https://a.b" }), []);
});

hostTest("a tool of the chat says what the session changed, and what was decided", async () => {
  const value = { changeSetId: "c1", files: [{ path: "src/a.ts" }] };
  const view = viewAfter({ event: { case: "changeSetApplied", value } });
  const record = {
    timestamp: "t",
    metadata: { seq: 3, calls: [{ tool: "Bash", verdict: "deny", rule: "floor.push" }] },
  };
  const governance = { listLedgerRecords: async () => ({ records: [{ seq: 3n, json: JSON.stringify(record) }] }) };
  const workbench = {
    sessions: { session: { sessionId: "s" }, view, facts: view.facts.peek() },
    connect: async () => ({ governance }),
  } as unknown as Workbench;
  const text = async (name: "gennai_session_changes" | "gennai_explain_decision", input: unknown = {}) => {
    const { content } = await callChatTool(workbench, name, input);
    return content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : "")).join("");
  };
  assert.match(await text("gennai_session_changes"), /"src\/a\.ts"/);
  assert.match(await text("gennai_explain_decision", { limit: 1 }), /"rule": "floor\.push"/);
  await assert.rejects(text("gennai_explain_decision", { limit: "all" }));
});

hostTest("what an attempt changed stands in the editor's own diff", async () => {
  const contents = new Map(["one\n", "two\n"].map((text) => [sha256Hex(text), new TextEncoder().encode(text)]));
  const asked: string[] = [];
  const client = {
    getAttemptContent: async ({ attemptsId, sha256 }: { readonly attemptsId: string; readonly sha256: string }) => {
      asked.push(attemptsId);
      return { content: contents.get(sha256) };
    },
  };
  const documents = new ContentDocuments();
  const sessions = { follow: async () => ({ client, sessionId: "s" }) };
  const workbench = { root: workspaceRoot(), documents, sessions } as unknown as Workbench;
  const [beforeSha256, afterSha256] = [...contents.keys()];
  const change = { path: "src/b.ts", beforeSha256, afterSha256, attemptsId: "a" };
  await hostActions(() => workbench).openChange(change, "s");
  const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
  assert.ok(tab?.input instanceof vscode.TabInputTextDiff);
  assert.equal(tab.label, "src/b.ts (changed by Gennai)");
  const sides = [tab.input.original, tab.input.modified].map((uri) => documents.provideTextDocumentContent(uri));
  assert.deepEqual(sides, ["one\n", "two\n"]);
  assert.deepEqual(asked, ["a", "a"]);
  documents.dispose();
  await vscode.window.tabGroups.close(tab);
});

type Told = NonNullable<MessageInitShape<typeof InvokeEventSchema>["event"]>;

/** A session of a server in this process: each turn tells this. */
async function sessionThatSays(started: string[], told: readonly Told[]): Promise<AgentSession> {
  const transport = createRouterTransport(({ service }) => {
    service(AgentService, {
      startSession: () => ({ sessionId: "s", workingDir: workspaceRoot() }),
      // Without a model.
      resumeSession: () => ({ settings: { backend: Backend.OFFLINE } }),
      startTurn: ({ userInput }) => {
        started.push(userInput);
        return { turnId: "t", afterSeq: 0n };
      },
      async *subscribe() {
        const end: Told = { case: "status", value: { state: InvokeState.COMPLETED } };
        for (const [index, event] of [...told, end].entries()) {
          const seq = BigInt(index + 1);
          yield create(InvokeEventSchema, { event, turnId: "t", seq, firstSeq: seq });
        }
      },
    });
  });
  const identity = { clientId: "c", name: "test", version: "1" };
  const signal = AbortSignal.timeout(30_000);
  return AgentSession.start(connect({ baseUrl: "", transport }), identity, {}, { interactive: true, signal });
}
