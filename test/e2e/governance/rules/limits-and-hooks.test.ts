import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { userConfig } from "@gennai/testkit/user-config";
import { expect, test } from "vitest";
import { endState, eventsOf, runTurn, startSession } from "../../rpc/session-client.ts";

const write = call("Write", { file_path: "new.txt", content: "new\n" });
const read = call("Read", { file_path: "README.md" });

/** A server with a configuration directory of its own. */
async function configured(
  files: Readonly<Record<string, string>>,
  steps: readonly Readonly<Record<string, unknown>>[],
  environment: Record<string, string> = {},
) {
  const config = await userConfig(files);
  const server = await startTestServer({
    steps: [...steps, { text: ["Over."] }],
    server: { environment: { ...config.environment, ...environment } },
  });
  return {
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await config[Symbol.asyncDispose]();
    },
  };
}

const hooksFile = (event: string, matcher: string, command: string): string =>
  JSON.stringify({ hooks: { [event]: [{ matcher, hooks: [{ type: "command", command, timeout: 5 }] }] } });

test.each(["GENNAI_POLICY", "GENNAI_CAPABILITIES"])(
  "seed 003 §10 least, seed 003 §10 refusal: a policy that %s names and that is missing leaves reading, with a graceful refusal",
  async (name) => {
    await using here = await configured({}, [read, write], { [name]: "/no/such/policy.json" });
    const events = await runTurn(here.server, await startSession(here.server), "do it");
    expect(eventsOf(events, "warning").join()).toContain("Only reading is permitted");
    expect(eventsOf(events, "toolResult")).toMatchObject([
      { error: "" },
      { error: expect.stringContaining("needs the capability write") },
    ]);
    expect(existsSync(here.server.workspace.path("new.txt"))).toBe(false);
    expect(endState(events)).toBe("COMPLETED");
  },
);

test("a policy of root refuses, names itself, and is in the ledger; a change of it is, too", async () => {
  let text =
    "gennai_policy: 1\nname: acme\nserial: 4\ncontact: sec@acme.example\nemergency: { read_only: true }\n...\n";
  const directory = "/etc/gennai";
  await using server = await startTestServer({
    steps: [write, { text: ["Over."] }],
    server: {
      policyFiles: {
        directory,
        list: (at) => (at === directory ? ["policy.yaml"] : []),
        read: async () => text,
      },
    },
  });
  const sessionId = await startSession(server);
  const events = await runTurn(server, sessionId, "do it");
  expect(eventsOf(events, "toolResult")).toMatchObject([
    { error: expect.stringContaining("Read-only mode is on"), output: expect.stringContaining("sec@acme.example") },
  ]);
  expect(existsSync(server.workspace.path("new.txt"))).toBe(false);
  text = text.replace("serial: 4", "serial: 5");
  await runTurn(server, sessionId, "do it again");
  await runTurn(server, sessionId, "and again");
  const lines = (await readFile(server.workspace.path(".orchestration/agent_trace.jsonl"), "utf8")).trim().split("\n");
  const policies = lines.flatMap((line) => {
    const { metadata } = JSON.parse(line) as { metadata?: { details?: { policy?: unknown } } };
    return metadata?.details?.policy ?? [];
  });
  expect(policies).toMatchObject([
    { name: "acme", serial: [4], files: [{ path: "/etc/gennai/policy.yaml" }] },
    { name: "acme", serial: [5] },
  ]);
});

test("a hook of the user refuses, with its words; another tool goes on", async () => {
  const hooks = hooksFile("PreToolUse", "Write|Edit", "echo 'not on a Friday' >&2; exit 2");
  await using here = await configured({ "hooks.json": hooks }, [read, write]);
  const events = await runTurn(here.server, await startSession(here.server), "do it");
  expect(eventsOf(events, "toolResult")).toMatchObject([
    { error: "" },
    { error: expect.stringContaining("not on a Friday") },
  ]);
  expect(existsSync(here.server.workspace.path("new.txt"))).toBe(false);
});

test("after the call a hook sees the result", async () => {
  const seen = hooksFile("PostToolUse", "Read", "cat > seen.json; echo 'look again' >&2; exit 2");
  await using here = await configured({ "hooks.json": seen }, [read]);
  const events = await runTurn(here.server, await startSession(here.server), "do it");
  expect(eventsOf(events, "toolResult")).toMatchObject([{ error: "" }]);
  expect(eventsOf(events, "warning").join()).toContain("look again");
  expect(JSON.parse(await readFile(here.server.workspace.path("seen.json"), "utf8"))).toMatchObject({
    hook_event_name: "PostToolUse",
    tool_name: "Read",
    tool_input: { file_path: "README.md" },
    tool_response: { output: expect.stringContaining("# Test") },
  });
});

test("after the call a hook is told each file of a patch, and arguments by the names they have here", async () => {
  const seen = hooksFile("PostToolUse", "Edit|Write", "cat >> seen.jsonl; echo >> seen.jsonl");
  const patch = "*** Begin Patch\n*** Add File: src/one.ts\n+1\n*** Add File: src/two.ts\n+2\n*** End Patch\n";
  await using here = await configured({ "hooks.json": seen }, [
    call("apply_patch", { input: patch }),
    call("Write", { path: "src/three.ts", content: "3\n" }),
  ]);
  const { workspace } = here.server;
  await runTurn(here.server, await startSession(here.server), "do it");
  const lines = (await readFile(workspace.path("seen.jsonl"), "utf8")).trim().split("\n");
  const told = lines.map((line) => JSON.parse(line).tool_input as Record<string, unknown>);
  expect(told).toEqual([
    { input: patch, file_path: workspace.path("src/one.ts") },
    { input: patch, file_path: workspace.path("src/two.ts") },
    { file_path: "src/three.ts", content: "3\n" },
  ]);
});
