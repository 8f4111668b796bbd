import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { createGrpcWebTransport } from "@connectrpc/connect-node";
import { bearerToken, connect } from "@gennai/client/connection/connection";
import { toHomeSchema } from "@gennai/client/home/home-messages";
import type { ProposedChange } from "@gennai/client/review/proposal";
import { CommandState } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ConfirmationAnswer, VerificationState } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { connectWebviewHome, type WebviewWindow } from "@gennai/repl/homes/webview-home";
import { loadChangeContent } from "@gennai/repl/review/verified-content";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import * as z from "zod";
import { Attention } from "../../../packages/vscode/src/attention/attention.ts";
import { EditorError } from "../../../packages/vscode/src/editor/editor-error.ts";
import { resolveInWorkspace } from "../../../packages/vscode/src/editor/workspace-paths.ts";
import { replHtml } from "../../../packages/vscode/src/repl/repl-html.ts";
import { decideLaunch, type LaunchFacts } from "../../../packages/vscode/src/server/launch-decision.ts";
import { secretKey } from "../../../packages/vscode/src/server/secret-key.ts";
import { watchingInterceptor } from "../../../packages/vscode/src/session/watching-interceptor.ts";
import { WindowClaim } from "../../../packages/vscode/src/session/window-claim.ts";
import { migrateSettings } from "../../../packages/vscode/src/settings/migrate-settings.ts";
import { type DeclaredShell, declaredShell } from "../../../packages/vscode/src/terminal/declared-shell.ts";
import { TerminalCommands } from "../../../packages/vscode/src/terminal/terminal-commands.ts";
import type { Terminals } from "../../../packages/vscode/src/terminal/terminals.ts";
import { eventsOf, startSession, Watcher } from "../../e2e/rpc/session-client.ts";
import { type Checks, check } from "../corpus-case.ts";
import { scriptOf } from "../tool-call.ts";

const { signal } = new AbortController();
const windowSchema = z.object({ Window: z.custom<new () => unknown>((value) => typeof value === "function") });

export const clientUiChecks: Checks = {
  "CUI-001": check(async () => {
    const policy = policyOf(
      replHtml({ cspSource: "https://cdn.example", script: "s.js", style: "s.css", title: "<b>" }),
    );
    assert.equal(policy.get("default-src"), "'none'");
    assert.match(policy.get("script-src") ?? "", /^'nonce-[\w-]{32}'$/);
    assert.deepEqual([policy.get("base-uri"), policy.get("form-action")], ["'none'", "'none'"]);
    assert.equal(policy.has("connect-src"), false);
    const hostile = [
      "<img src=x onerror=alert(1)>",
      "<script>alert(1)</script>",
      "<svg onload=alert(1)>",
      "[a](javascript:alert(1))",
      "[a](JaVaScRiPt:alert(1))",
      "![a](https://evil.example/seen.png)",
      "[a](command:workbench.action.terminal.new)",
    ];
    for (const text of hostile) {
      const found = await dangersOf(text);
      assert.deepEqual(found, [], text);
    }
  }),
  "CUI-002": check(async () => {
    const { frame, send } = webview();
    let launched = false;
    void connectWebviewHome({ postMessage: () => undefined }, frame).then(() => {
      launched = true;
    });
    const launch = {
      type: "launch",
      launch: {
        ...{ clientId: "c", clientName: "test", version: "1", workspace: "/w", state: {} },
        settings: { showThinking: true, backend: "", model: "", editingMode: "branch", scenario: "" },
      },
    };
    send(launch, "https://evil.example");
    send({ ...launch, extra: true }, frame.origin);
    await turnOfTheLoop();
    assert.equal(launched, false, "a message of another frame was taken");
    send(launch, frame.origin);
    await turnOfTheLoop();
    assert.equal(launched, true);
    for (const forged of [
      { type: "request", id: 1, request: { type: "run-command", command: "workbench.action.quit" } },
      { type: "eval" },
    ]) {
      assert.equal(toHomeSchema.safeParse(forged).success, false, JSON.stringify(forged));
    }
  }),
  "CUI-004": check(async () => {
    await using workspace = await temporaryDirectory({ "a.txt": "a" });
    assert.equal((await resolveInWorkspace(workspace.root, "a.txt")).name, "a.txt");
    for (const path of ["../../etc/passwd", "/etc/passwd", "a/../../b", "file:///etc/passwd", "~/.ssh/id", "..\\b"]) {
      await assert.rejects(resolveInWorkspace(workspace.root, path), { code: "outside_workspace" }, path);
    }
  }),
  "CUI-005": check(async () => {
    for (const command of ["echo a\necho b", "echo a\r", "sleep 1\u0003", "echo \u001b[A", "echo \u202e"]) {
      const { made, failure } = await typed({ command });
      assert.deepEqual([failure, made], ["bad_command", 0], JSON.stringify(command));
    }
  }),
  "CUI-006": check(async () => {
    await using declared = await shell();
    const { shellPath, shellArgs, environment } = declared;
    assert.match(shellPath, /\/bash$/);
    assert.ok(shellArgs.includes("--noprofile") && shellArgs.includes("--init-file"));
    assert.deepEqual([environment["BASH_ENV"], environment["ENV"]], [null, null]);
    await assert.rejects(declaredShell("/nowhere", "linux"), { code: "no_shell" });
    await assert.rejects(declaredShell("/nowhere", "win32"), { code: "no_shell" });
  }),
  "CUI-007": check(async () => {
    await using declared = await shell();
    const { shellPath, shellArgs } = declared;
    const args = [...shellArgs, "-i", "-c", 'echo "flags $-"; echo a!!b'];
    const { stdout } = await promisify(execFile)(shellPath, args);
    assert.match(stdout, /^flags [^H\n]+\na!!b$/m);
  }),
  "CUI-009": check(async () => {
    // Every command has a terminal of its own, and one whose shell does not report itself is typed nothing.
    const busy = await typed({ ready: false });
    assert.deepEqual([busy.failure, busy.typed], ["no_shell_integration", []]);
    const twice = await typed({ times: 2 });
    assert.deepEqual([twice.failure, twice.made, twice.typed], ["ok", 2, ["t1 make", "t2 make"]]);
  }),
  "CUI-010": check(async () => {
    for (const directory of ["/somewhere/else", undefined]) {
      const { failure, typed: keys } = await typed({ directory: () => directory });
      assert.deepEqual([failure, keys], ["wrong_directory", []]);
    }
    const { failure, made } = await typed({ cwd: "/" });
    assert.deepEqual([failure, made], ["outside_workspace", 0]);
  }),
  "CUI-012": check(async () => {
    const result = await terminalResult({ status: "SENT", state: CommandState.UNOBSERVED });
    assert.equal(result.exitCode, undefined);
    assert.notEqual(result.verification, VerificationState.VERIFIED);
    assert.match(result.output, /its result is unknown/);
  }),
  "CUI-013": check(async () => {
    const { failure, message } = await typed({ ready: false });
    assert.equal(failure, "no_shell_integration");
    assert.match(message, /nothing was typed.*Bash on the server/s);
    const result = await terminalResult({ status: "ERROR", error: message });
    assert.match(result.output + result.error, /Bash on the server/);
  }),
  "CUI-014": check(async () => {
    for (const more of [{}, { asked: true }, { autoLaunch: "always" as const }]) {
      assert.equal(decideLaunch(launch({ ...more, trusted: false })).type, "refuse");
    }
  }),
  "CUI-015": check(async () => {
    for (const serverCommand of ["./evil", "evil.sh", "../evil", "bin/gennai"]) {
      const decision = decideLaunch(launch({ serverCommand, asked: true, autoLaunch: "always" }));
      assert.equal(decision.type, "refuse", serverCommand);
    }
    const { contributes } = manifestSchema.parse(
      JSON.parse(await readFile(new URL("../../../packages/vscode/package.json", import.meta.url), "utf8")),
    );
    for (const key of ["gennai.serverCommand", "gennai.baseUrl"]) {
      assert.equal(contributes.configuration.properties[key]?.scope, "machine", key);
    }
  }),
  "CUI-016": check(async () => {
    for (const target of ["user", "workspace", "folder"] as const) {
      const settings = new Map([[`${target} gennai.authToken`, "the-token"]]);
      const stored: string[] = [];
      const warnings: string[] = [];
      await migrateSettings({
        read: (key, where) => settings.get(`${where} ${key}`),
        write: async (key, value, where) => {
          if (value === undefined) settings.delete(`${where} ${key}`);
        },
        storeToken: async (token) => void stored.push(token),
        wasMigrated: () => false,
        rememberMigrated: async () => undefined,
        warn: (message) => void warnings.push(message),
      });
      assert.deepEqual([stored, [...settings]], [["the-token"], []]);
      assert.match(warnings.join(), /moved to the secret storage.*new token/);
      assert.doesNotMatch(warnings.join(), /the-token/);
    }
  }),
  "CUI-017": check(async () => {
    const url = "http://127.0.0.1:7777";
    const windows = [
      { remoteName: undefined, host: "laptop" },
      { remoteName: "ssh-remote", host: "laptop" },
      { remoteName: "ssh-remote", host: "build" },
      { remoteName: "dev-container", host: "laptop" },
    ];
    const keys = [
      ...windows.map((window) => secretKey(window, url)),
      secretKey({ remoteName: undefined, host: "laptop" }, "http://127.0.0.1:7778"),
    ];
    assert.equal(new Set(keys).size, keys.length);
  }),
  "CUI-018": check(async () => {
    const blobs = new Map([["f".repeat(64), "something else\n"]]);
    const blob = async (sha256: string) => new TextEncoder().encode(blobs.get(sha256) ?? "");
    for (const change of [
      proposed({ baseSha256: "f".repeat(64), newContent: "new\n" }),
      proposed({ operation: "create", newContent: "what is shown\n", newContentBlob: "f".repeat(64) }),
    ]) {
      assert.equal((await loadChangeContent(change, blob, { signal })).type, "unverified");
    }
  }),
  "CUI-021": check(async () => {
    const shown: string[] = [];
    let due: (() => void) | undefined;
    const attention = new Attention({
      isSeen: () => false,
      show: (message) => {
        shown.push(message);
        return new Promise(() => undefined);
      },
      now: () => 0,
      after: (_milliseconds, callback) => {
        due = callback;
        return () => undefined;
      },
    });
    const ring = () => {
      const callback = due;
      due = undefined;
      callback?.();
    };
    const open = new Map<string, string>();
    for (let count = 0; count < 200; count += 1) {
      open.set(`q${count}`, `question ${count}`);
      attention.update(new Map(open));
      if (count === 99) ring();
    }
    ring();
    assert.deepEqual(shown, ["Gennai waits for 100 answers of yours."]);
  }),
  "CUI-022": check(async () => {
    await using directory = await temporaryDirectory();
    const file = directory.path("window.json");
    await using first = new WindowClaim(file, () => undefined);
    await using second = new WindowClaim(file, () => undefined);
    assert.deepEqual([(await first.begin()).type, (await second.begin()).type], ["ours", "held"]);
    await using server = await startTestServer({ script: [{ steps: [{ text: ["."] }] }] });
    const sessionId = await startSession(server);
    const watching = watchingInterceptor(() => second.state.type === "held");
    const transport = createGrpcWebTransport({
      baseUrl: server.url,
      httpVersion: "1.1",
      interceptors: [watching, bearerToken(server.token, async () => server.token)],
    });
    const client = connect({ baseUrl: server.url, transport });
    assert.equal((await client.resumeSession({ sessionId })).session?.sessionId, sessionId);
    await assert.rejects(client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" }), /Another window works/);
    await second.takeOver();
    await client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  }),
};

const manifestSchema = z.object({
  contributes: z.object({
    configuration: z.object({ properties: z.record(z.string(), z.object({ scope: z.string().optional() })) }),
  }),
});

/** The directives of a page's Content Security Policy. */
function policyOf(html: string): ReadonlyMap<string, string> {
  const text = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
  const plain = text.replaceAll("&#39;", "'").replaceAll("&amp;", "&");
  return new Map(
    plain.split("; ").map((directive): [string, string] => {
      const [name = "", ...values] = directive.split(" ");
      return [name, values.join(" ")];
    }),
  );
}

/** What of an assistant's text could act, as the REPL makes elements of it. */
async function dangersOf(text: string): Promise<readonly string[]> {
  const { Window } = windowSchema.parse(createRequire(import.meta.resolve("@gennai/repl/chat/markdown"))("happy-dom"));
  const window: unknown = new Window();
  Object.assign(globalThis, { window });
  const { markdownBlocks } = await import("@gennai/repl/chat/markdown");
  const html = [...markdownBlocks(text, new Map()).values()].join("");
  const tags = html.match(/<[a-z][^>]*>/gi) ?? [];
  return tags.filter((tag) =>
    /^<(?:script|img|svg|iframe|style|form)\b|\son\w+\s*=|(?:href|src)="(?!https?:)/i.test(tag),
  );
}

/** A webview's frame. */
function webview() {
  let listener: (event: MessageEvent<unknown>) => void = () => undefined;
  const frame: WebviewWindow = {
    origin: "vscode-webview://one",
    addEventListener: (_type, added) => {
      listener = added;
    },
    removeEventListener: () => undefined,
  };
  const send = (data: unknown, origin: string) => listener(new MessageEvent("message", { data, origin }));
  return { frame, send };
}

function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

interface Typing {
  readonly command?: string;
  readonly cwd?: string;
  readonly ready?: boolean;
  /** Where the shell says it is. */
  readonly directory?: (asked: string) => string | undefined;
  readonly times?: number;
}

/** What the extension types into terminals for a command, and how it ended. */
async function typed({ command = "make", cwd = "", ready = true, directory = (asked) => asked, times = 1 }: Typing) {
  await using workspace = await temporaryDirectory();
  const keys: string[] = [];
  let made = 0;
  const terminals: Terminals = {
    create: async (options) => {
      const id = `t${++made}`;
      return {
        id,
        ready: async () => ready,
        directory: async () => directory(options.cwd),
        execute: (text) => {
          keys.push(`${id} ${text}`);
          return { output: nothing(), begun: Promise.resolve(), end: Promise.resolve({ type: "exited", exitCode: 0 }) };
        },
        show: () => undefined,
        interrupt: () => undefined,
        kill: async () => undefined,
        close: () => undefined,
      };
    },
  };
  await using commands = new TerminalCommands({ terminals, workspace: workspace.root });
  const request = { command, cwd, terminalName: "Gennai Agent", reveal: undefined };
  const run = async () => {
    for (let time = 0; time < times; time += 1) await commands.run(request, { signal, onOutput: () => undefined });
  };
  const error: unknown = await run().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const failure = error instanceof EditorError ? error.code : error === undefined ? "ok" : "another error";
  return { made, typed: keys, failure, message: error instanceof Error ? error.message : "" };
}

async function* nothing(): AsyncGenerator<string, void> {}

/** The agent's shell, over an editor that has no more than its integration script. */
async function shell(): Promise<DeclaredShell & AsyncDisposable> {
  const editor = await temporaryDirectory({
    "out/vs/workbench/contrib/terminal/common/scripts/shellIntegration-bash.sh": "",
  });
  return {
    ...(await declaredShell(editor.root, "linux")),
    [Symbol.asyncDispose]: () => editor[Symbol.asyncDispose](),
  };
}

function launch(more: Partial<LaunchFacts>): LaunchFacts {
  const none = { trusted: true, hasFolder: true, autoLaunch: "ask", baseUrl: "", serverCommand: "" } as const;
  return { ...none, asked: false, declined: false, ...more };
}

function proposed(more: Partial<ProposedChange>): ProposedChange {
  return {
    ...{ id: "c", path: "a.txt", operation: "update", unifiedDiff: "", newContent: "", newContentBlob: undefined },
    ...{ baseSha256: "", baseBlob: undefined, conflict: false, warning: "", hunks: [], ...more },
  };
}

/** The result of a command in a terminal, as the model hears it, where the editor answers so. */
async function terminalResult(answer: {
  readonly status: string;
  readonly state?: CommandState;
  readonly error?: string;
}) {
  await using server = await startTestServer({
    script: [scriptOf([{ tool: "RunInTerminal", args: { command: "make" } }])],
  });
  const sessionId = await startSession(server, { interactive: true });
  await using editor = await Watcher.attach(server, sessionId);
  await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  const { requestId, actionSha256 } = await editor.next("confirmationRequest");
  const yes = { requestId, actionSha256, answer: ConfirmationAnswer.YES };
  await editor.submit({ case: "confirmationResponse", value: yes });
  const command = await editor.next("executeCommandRequest");
  await editor.submit({ case: "commandDispatchResponse", value: { requestId: command.requestId, ...answer } });
  await editor.end();
  const result = eventsOf(editor.events, "toolResult").at(-1);
  assert.ok(result, "the turn made no call");
  return result;
}
