import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ConfirmationQuestion } from "@gennai/client/connection/editor";
import { AgentSession } from "@gennai/client/session/agent-session";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import { freePort } from "@gennai/testkit/listening";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { userConfig } from "@gennai/testkit/user-config";
import { expect, test } from "vitest";
import { endState, eventsOf } from "../rpc/session-client.ts";

const hostileServer = join(import.meta.dirname, "../../../packages/sessions/test/mcp/hostile-server.ts");

/** The program of a server from npm. */
function programOf(name: string): string {
  return join(import.meta.dirname, "../../node_modules/@modelcontextprotocol", name, "dist", "index.js");
}

type Steps = readonly Readonly<Record<string, unknown>>[];

/** A workspace whose user has real servers, and one that turns hostile. */
async function configured(
  words: { readonly allow?: readonly string[]; readonly readOnly?: readonly string[] } = {},
  more: Readonly<Record<string, object>> = {},
) {
  const config = await userConfig();
  const server = await startTestServer({
    files: { "notes.txt": "remember the milk\n", ".env": "KEY=not-for-agents\n" },
    server: { environment: config.environment },
  });
  const { root } = server.workspace;
  const mcpServers = {
    files: { command: process.execPath, args: [programOf("server-filesystem"), root], ...words },
    all: { command: process.execPath, args: [programOf("server-everything")] },
    odd: { command: process.execPath, args: [hostileServer, "rug-pull"], allow: ["echo"] },
    ...more,
  };
  await config.write({ "mcp.json": { mcpServers } });
  const asked: ConfirmationQuestion[] = [];
  const signal = AbortSignal.timeout(60_000);
  return {
    server,
    root,
    asked,
    /** One turn in which the model makes these calls, and every question gets this answer. */
    async turn(steps: Steps, answer: "yes" | "no", choice: SettingsChoice = {}): Promise<InvokeEvent[]> {
      const model = await server.scriptFile([{ steps: [...steps, { text: ["Over."] }] }]);
      const editor = {
        confirm: async (question: ConfirmationQuestion) => {
          asked.push(question);
          return answer === "yes" ? { answer, scope: "once" as const } : { answer, reason: "not today" };
        },
      };
      const identity = { clientId: "somebody", name: "test", version: "0", editor };
      const settings: SettingsChoice = { backend: "scripted", model, ...choice };
      const session = await AgentSession.start(server.client, identity, settings, { interactive: true, signal });
      return Array.fromAsync(session.runTurn({ text: "do it", scenario: "CODE" }, { signal }));
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await config[Symbol.asyncDispose]();
    },
  };
}

test("real servers' tools go through the gate: asked about first, refused on a no, called on a yes", async () => {
  await using here = await configured();
  const steps = [
    call("mcp__all__echo", { message: "hello there" }),
    call("mcp__files__read_text_file", { path: join(here.root, "notes.txt") }),
  ];
  const refused = await here.turn(steps, "no");
  expect(eventsOf(refused, "toolResult").map(({ error }) => error)).toEqual([
    expect.stringContaining("not today"),
    expect.stringContaining("not today"),
  ]);
  expect(here.asked).toHaveLength(2);
  expect(here.asked[0]?.actionStatement).toContain("Call echo of the MCP server all");

  const allowed = await here.turn(steps, "yes");
  const [said, read] = eventsOf(allowed, "toolResult");
  expect(said).toMatchObject({ error: "", output: expect.stringContaining("hello there") });
  expect(read).toMatchObject({ error: "", output: expect.stringContaining("remember the milk") });
  expect(endState(allowed)).toBe("COMPLETED");

  // The bound of results holds for those of others as well.
  await here.server.workspace.write("long.txt", "long line\n".repeat(20_000));
  const [long] = eventsOf(
    await here.turn([call("mcp__files__read_text_file", { path: join(here.root, "long.txt") })], "yes"),
    "toolResult",
  );
  // The model got less than people can see.
  expect(long).toMatchObject({ error: "", truncated: true, outputBlob: { size: 200_000n } });
});

test("an image of a server is shown to the model, and kept for people", async () => {
  await using here = await configured();
  const [result] = eventsOf(await here.turn([call("mcp__all__get-tiny-image", {})], "yes"), "toolResult");
  expect(result).toMatchObject({ error: "", images: [{ mediaType: "image/png" }] });
  expect(result?.output).toMatch(/\[image 1: PNG, \d+ x \d+ pixels, \d+ bytes\]/);
});

test("what was accepted and listed runs without a question; nothing that the rules keep from the agent is reached", async () => {
  await using here = await configured({ allow: ["read_text_file", "write_file"] });
  const read = call("mcp__files__read_text_file", { path: join(here.root, "notes.txt") });
  await here.turn([read], "yes");
  here.asked.length = 0;
  const events = await here.turn(
    [
      read,
      call("mcp__files__read_text_file", { path: join(here.root, ".env") }),
      call("mcp__files__read_text_file", { path: "/etc/hostname" }),
      call("mcp__files__write_file", { path: join(here.root, ".git/hooks/post-commit"), content: "evil" }),
      call("mcp__files__write_file", { path: join(here.root, ".vscode/tasks.json"), content: "{}" }),
      call("mcp__all__echo", { message: 7, approved: true }),
    ],
    "yes",
  );
  const [first, ...others] = eventsOf(events, "toolResult");
  expect(first).toMatchObject({ error: "", output: expect.stringContaining("remember the milk") });
  expect(others).toHaveLength(5);
  for (const result of others) expect(result.error, result.output).not.toBe("");
  expect(JSON.stringify(others)).not.toContain("not-for-agents");
  expect(existsSync(here.server.workspace.path(".git/hooks/post-commit"))).toBe(false);
  expect(here.asked).toEqual([]);
});

test("in proposal mode only tools that by the user's word only read are offered", async () => {
  await using here = await configured({ readOnly: ["read_text_file"] });
  const steps = [
    call("mcp__files__read_text_file", { path: join(here.root, "notes.txt") }),
    call("mcp__files__write_file", { path: join(here.root, "notes.txt"), content: "gone" }),
  ];
  const events = await here.turn(steps, "yes", { editingMode: "proposal" });
  expect(eventsOf(events, "toolResult")).toMatchObject([
    { error: "" },
    { error: expect.stringMatching(/no tool|unknown/i) },
  ]);
  expect(await readFile(here.server.workspace.path("notes.txt"), "utf8")).toBe("remember the milk\n");
});

test("a server behind a URL is used the same way, and one that is not there is told about without ending the turn", async () => {
  const [port, nobody] = [await freePort(), await freePort()];
  const program = spawn(process.execPath, [programOf("server-everything"), "streamableHttp"], {
    env: { ...process.env, PORT: `${port}` },
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    program.stderr.setEncoding("utf8");
    for await (const text of program.stderr) if (String(text).includes(`${port}`)) break;
    await using here = await configured(
      {},
      { web: { url: `http://127.0.0.1:${port}/mcp` }, gone: { url: `http://127.0.0.1:${nobody}/mcp` } },
    );
    const events = await here.turn([call("mcp__web__echo", { message: "over HTTP" })], "yes");
    expect(eventsOf(events, "toolResult")).toMatchObject([{ error: "", output: expect.stringContaining("over HTTP") }]);
    expect(eventsOf(events, "warning").join()).toContain("The MCP server gone could not be started");
    expect(endState(events)).toBe("COMPLETED");
  } finally {
    program.kill("SIGKILL");
  }
});
