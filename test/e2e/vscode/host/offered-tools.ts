import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setInterval } from "node:timers/promises";
import * as vscode from "vscode";
import { hostTest } from "./host-test.ts";
import { workspaceRoot } from "./workspace.ts";

/** What VS Code tells of its MCP servers, and how it calls them for others than its own agent. Not yet in its published types. */
interface McpOfEditor {
  readonly mcpServerDefinitions: readonly { readonly label: string }[];
  readonly onDidChangeMcpServerDefinitions: vscode.Event<void>;
  startMcpGateway(): Thenable<
    | (vscode.Disposable & { readonly servers: readonly { readonly label: string; readonly address: vscode.Uri }[] })
    | undefined
  >;
}

const editor: McpOfEditor = Object(vscode.lm);

async function isListed(wanted: boolean): Promise<void> {
  const listed = () => editor.mcpServerDefinitions.some(({ label }) => label === "Gennai");
  while (listed() !== wanted) {
    await new Promise<void>((resolve) => {
      const listener = editor.onDidChangeMcpServerDefinitions(() => {
        listener.dispose();
        resolve();
      });
    });
  }
}

type Call = (method: string, params: object) => Promise<Record<string, unknown>>;

/** Resolves when the server that VS Code starts has these tools: VS Code answers without them when it has not started in seconds. */
async function offers(call: Call, wanted: readonly string[]): Promise<void> {
  for await (const _ of setInterval(200)) {
    const { tools } = await call("tools/list", {});
    const names = (tools as { readonly name: string }[]).map(({ name }) => name);
    if (wanted.every((name) => names.includes(name))) return;
  }
}

/** A client of the server that VS Code has started. */
async function connect(address: string): Promise<Call> {
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json" };
  const post = async (message: object) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    const answer = await fetch(address, { method: "POST", headers, body });
    headers["mcp-session-id"] = answer.headers.get("mcp-session-id") ?? "";
    const text = await answer.text();
    const { result = {} }: { readonly result?: Record<string, unknown> } = text === "" ? {} : JSON.parse(text);
    return result;
  };
  const clientInfo = { name: "test", version: "1" };
  await post({ id: 0, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  await post({ method: "notifications/initialized" });
  return (method, params) => post({ id: 1, method, params });
}

hostTest(
  "VS Code lists, starts and calls our tools by one switch: the gate judges each call, and the ledger has it",
  async () => {
    await vscode.extensions.getExtension("gennai.gennai")?.activate();
    const settings = vscode.workspace.getConfiguration("gennai");
    await isListed(false);
    await settings.update("copilot.offerTools", true, vscode.ConfigurationTarget.Global);
    await isListed(true);
    const gateway = await editor.startMcpGateway();
    const server = gateway?.servers.find(({ label }) => label === "Gennai");
    assert.ok(server, JSON.stringify(gateway?.servers));
    const call = await connect(server.address.toString(true));
    await offers(call, ["Read", "Write", "Bash"]);
    const read = await call("tools/call", { name: "Read", arguments: { path: "src/a.ts" } });
    assert.match(JSON.stringify(read), /export const a = 1/);
    const refused = await call("tools/call", { name: "Read", arguments: { path: "/etc/shadow" } });
    assert.match(JSON.stringify(refused), /outside_workspace/);
    assert.equal(refused["isError"], true);
    gateway?.dispose();
    const ledger = join(workspaceRoot(), ".orchestration", "agent_trace.jsonl");
    for await (const _ of setInterval(50)) {
      const records = readFileSync(ledger, "utf8");
      if (/"tool":"Read","verdict":"allow"/.test(records) && /"tool":"Read","verdict":"deny"/.test(records)) break;
    }
    await settings.update("copilot.offerTools", undefined, vscode.ConfigurationTarget.Global);
    await isListed(false);
  },
);
