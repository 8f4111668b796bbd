import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createGrpcWebTransport } from "@connectrpc/connect-node";
import { bearerToken, connect } from "@gennai/client/connection/connection";
import { toHostSchema } from "@gennai/client/host/host-messages";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { connectWebviewHost, type WebviewWindow } from "@gennai/repl/hosts/webview-host";
import { loadChangeContent } from "@gennai/repl/review/diff/verified-content";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import * as z from "zod";
import { Attention } from "../../../../packages/vscode/src/attention/attention.ts";
import { resolveInWorkspace } from "../../../../packages/vscode/src/editor/paths/workspace-paths.ts";
import { replHtml } from "../../../../packages/vscode/src/repl/repl-html.ts";
import { decideLaunch, type LaunchFacts } from "../../../../packages/vscode/src/server/launch/launch-decision.ts";
import { secretKey } from "../../../../packages/vscode/src/server/secret-key.ts";
import { watchingInterceptor } from "../../../../packages/vscode/src/session/interceptors/watching-interceptor.ts";
import { WindowClaim } from "../../../../packages/vscode/src/session/window/window-claim.ts";
import { migrateSettings } from "../../../../packages/vscode/src/settings/migrate-settings.ts";
import { startSession } from "../../../e2e/rpc/session-client.ts";
import { type Checks, check } from "../../corpus-case.ts";

const { signal } = new AbortController();
const windowSchema = z.object({ Window: z.custom<new () => unknown>((value) => typeof value === "function") });

/** `client.ui`: what is shown, from where a message counts, and what a workspace cannot make the extension do. */
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
    void connectWebviewHost({ postMessage: () => undefined }, frame).then(() => {
      launched = true;
    });
    const launch = {
      type: "launch",
      launch: {
        clientId: "c",
        clientName: "test",
        version: "1",
        workspace: "/w",
        state: {},
        settings: { showThinking: true, backend: "", model: "", modelUrl: "", editingMode: "branch", scenario: "" },
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
      assert.equal(toHostSchema.safeParse(forged).success, false, JSON.stringify(forged));
    }
  }),
  "CUI-004": check(async () => {
    await using workspace = await temporaryDirectory({ "a.txt": "a" });
    assert.equal((await resolveInWorkspace(workspace.root, "a.txt")).name, "a.txt");
    for (const path of ["../../etc/passwd", "/etc/passwd", "a/../../b", "file:///etc/passwd", "~/.ssh/id", "..\\b"]) {
      await assert.rejects(resolveInWorkspace(workspace.root, path), { code: "outside_workspace" }, path);
    }
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
      JSON.parse(await readFile(new URL("../../../../packages/vscode/package.json", import.meta.url), "utf8")),
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
      proposed({
        operation: "create",
        newContent: "what is shown\n",
        newContentBlob: { sha256: "f".repeat(64), size: 14, mediaType: "" },
      }),
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
        return { say: () => undefined, close: () => undefined };
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
    assert.deepEqual(shown, ["question 0 (and 99 more)", "question 0 (and 199 more)"]);
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

function launch(more: Partial<LaunchFacts>): LaunchFacts {
  const none = { trusted: true, hasFolder: true, autoLaunch: "ask", baseUrl: "", serverCommand: "" } as const;
  return { ...none, asked: false, declined: false, ...more };
}

function proposed(more: Partial<ProposedChange>): ProposedChange {
  return {
    id: "c",
    path: "a.txt",
    operation: "update",
    unifiedDiff: "",
    newContent: "",
    newContentBlob: undefined,
    baseSha256: "",
    baseBlob: undefined,
    conflict: false,
    warning: "",
    hunks: [],
    ...more,
  };
}
