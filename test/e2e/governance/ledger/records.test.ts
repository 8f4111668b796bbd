import { sha256Hex } from "@gennai/protocol/digest";
import { FailureClass, IntentsMode } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import * as z from "zod";
import { eventsOf, runTurn, startSession } from "../../rpc/session-client.ts";

const recordSchema = z.looseObject({
  timestamp: z.string(),
  vcs: z.object({ type: z.literal("git"), revision: z.string() }).optional(),
  files: z.array(
    z.object({
      path: z.string(),
      conversations: z.array(
        z.object({
          contributor: z.object({ type: z.enum(["ai", "human", "mixed"]), model_id: z.string().optional() }),
          ranges: z.array(z.object({ start_line: z.number(), end_line: z.number(), content_hash: z.string() })),
          related: z.array(z.strictObject({ type: z.string(), url: z.string(), value: z.string() })),
        }),
      ),
    }),
  ),
  metadata: z.looseObject({
    kind: z.string(),
    calls: z.array(z.looseObject({ tool: z.string() })),
    details: z.looseObject({}),
  }),
});

async function records(server: TestServer): Promise<readonly z.infer<typeof recordSchema>[]> {
  const { governance } = server;
  const { records: found } = await governance.listLedgerRecords({ limit: 1000 });
  return found.map(({ json }) => recordSchema.parse(JSON.parse(json)));
}

/** A turn that makes these calls, one after the other. */
async function played(files: Readonly<Record<string, string>>, ...steps: readonly object[]) {
  const server = await startTestServer({ files, steps: [...steps.map((each) => ({ ...each })), { text: ["Over."] }] });
  const sessionId = await startSession(server);
  const events = await runTurn(server, sessionId, "go");
  return { server, sessionId, events, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const secret = ["ghp", "x7Kq2mV9tR4wB8nL1cF6hJ3pD5sG0yZaQeUi"].join("_");

test("seed 003 §7: a step's record has tool, redacted input, start and stop, exit status and verification", async () => {
  await using world = await played(
    { "a.txt": "one\n" },
    call("Write", { file_path: "new.txt", content: `token ${secret}\n` }),
    call("Bash", { command: "cat missing.txt" }),
  );
  const all = await records(world.server);
  const [written, ran] = all
    .filter(({ metadata }) => metadata.kind === "outcome")
    .map(({ metadata }) => metadata.calls[0]);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
  expect(written).toMatchObject({ tool: "Write", started: time, stopped: time, verification: "verified" });
  expect(JSON.stringify(all)).not.toContain(secret);
  expect(JSON.stringify(written?.["input"])).toContain("[REDACTED");
  expect(ran).toMatchObject({
    tool: "Bash",
    exit_code: 1,
    failure_class: "command_error",
    started: time,
    stopped: time,
  });
  // The intent is in the ledger before the result.
  expect(all.map(({ metadata }) => metadata.kind)).toEqual(["intent", "outcome", "intent", "outcome"]);
});

test("a step that only reads has one record, with what was decided and the result", async () => {
  await using world = await played(
    { "a.txt": "one\n", "b.txt": "two\n" },
    call("Read", { file_path: "a.txt" }),
    call("Grep", { pattern: "two" }),
    call("Write", { file_path: "c.txt", content: "three\n" }),
    call("Read", { path: "b.txt" }),
    call("Read", { file_path: "missing.txt" }),
  );
  const all = await records(world.server);
  expect(
    all.map(({ metadata }) => [metadata.kind, metadata.details["only_reads"], metadata.calls.map(({ tool }) => tool)]),
  ).toEqual([
    ["outcome", true, ["Read", "Grep"]],
    ["intent", undefined, ["Write"]],
    ["outcome", undefined, ["Write"]],
    ["outcome", true, ["Read", "Read"]],
  ]);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
  expect(all[0]?.metadata.calls[0]).toMatchObject({ verdict: "allow", rule: "", started: time, stopped: time });
  // In the words of the model, where it used others.
  expect(Object.values(Object(all[3]?.metadata.details["as_called"]))).toEqual(['Read {"path":"b.txt"}']);
});

test("seed 003 §7 classes: failures are classified", async () => {
  const failing: readonly (readonly [object, string, FailureClass])[] = [
    [call("Bash", { command: "cat missing.txt" }), "command_error", FailureClass.COMMAND_ERROR],
    [call("Fly", {}), "tool_unavailable", FailureClass.TOOL_UNAVAILABLE],
    [call("Write", { file_path: "../x", content: "" }), "permission_denied", FailureClass.PERMISSION_DENIED],
    [call("Bash", { command: "sleep 20", timeout_ms: 300 }), "timeout", FailureClass.TIMEOUT],
  ];
  // Each in a round of its own, so that it has a record of its own.
  const rounds = failing.flatMap(([call]) => [call, { text: ["On."] }]);
  await using world = await played({ "a.txt": "one\n" }, ...rounds);
  expect(eventsOf(world.events, "toolResult").map(({ failureClass }) => failureClass)).toEqual(
    failing.map(([, , failureClass]) => failureClass),
  );
  const recorded = (await records(world.server)).flatMap(({ metadata }) => metadata.calls);
  expect(recorded.flatMap((call) => call["failure_class"] ?? [])).toEqual(failing.map(([, word]) => word));
});

const block = "function moved() {\n  return 1;\n}\n";
/** Of its lines, without the line break that ends the last. */
const blockHash = `sha256:${sha256Hex(block.trimEnd())}`;

test("seed 001 trace: a record links intent, hashes, paths, ranges, time, contributor and revision", async () => {
  const intents = "active_intents:\n  - {id: INT-001, name: Work, status: active, owned_scope: ['src/**']}\n";
  await using world = await played(
    { ".orchestration/active_intents.yaml": intents },
    call("select_active_intent", { intent_id: "INT-001" }),
    call("Write", { file_path: "src/a.ts", content: block }),
  );
  const all = await records(world.server);
  const outcome = all.find(({ files }) => files.some(({ path }) => path === "src/a.ts"));
  expect(outcome).toMatchObject({
    timestamp: expect.stringMatching(/Z$/),
    vcs: { type: "git", revision: await world.server.workspace.git("rev-parse", "HEAD") },
    files: [
      {
        path: "src/a.ts",
        conversations: [
          {
            contributor: { type: "ai", model_id: expect.any(String) },
            ranges: [{ start_line: 1, end_line: 3, content_hash: blockHash }],
            related: [{ type: "specification", url: "urn:gennai:intent:INT-001", value: "INT-001" }],
          },
        ],
      },
    ],
  });
});

test("seed 001 block-hash: a block keeps its identity when it stands elsewhere", async () => {
  await using world = await played(
    { "a.ts": "// one\n// two\n", "b.ts": "// other\n\n\n// end\n" },
    call("Read", { file_path: "a.ts" }),
    call("Edit", { file_path: "a.ts", old_string: "// two\n", new_string: `// two\n${block}` }),
    call("Read", { file_path: "b.ts" }),
    call("Edit", { file_path: "b.ts", old_string: "// end\n", new_string: `${block}// end\n` }),
  );
  const ranges = (await records(world.server)).flatMap(({ files }) =>
    files.flatMap(({ path, conversations }) =>
      conversations.flatMap((one) => one.ranges.map((range) => ({ path, ...range }))),
    ),
  );
  expect(ranges).toEqual([
    { path: "a.ts", start_line: 3, end_line: 5, content_hash: blockHash },
    { path: "b.ts", start_line: 4, end_line: 6, content_hash: blockHash },
  ]);
});

test("seed 001 opt-in: a person switches intents for the session's workspace, which is recorded and in force at once", async () => {
  await using server = await startTestServer({ files: { "a.txt": "a\n" } });
  const sessionId = await startSession(server);
  const { governance } = server;
  const check = async () => {
    const argumentsJson = JSON.stringify({ file_path: "b.txt", content: "b\n" });
    return (await governance.checkPolicy({ sessionId, tool: "Write", argumentsJson })).rules.map(({ rule }) => rule);
  };
  const required = (rules: readonly string[]) => rules.some((rule) => rule.startsWith("intents/"));
  expect(required(await check())).toBe(false);
  expect(await governance.setIntentsMode({ sessionId, mode: IntentsMode.REQUIRED })).toMatchObject({
    mode: IntentsMode.REQUIRED,
    on: true,
  });
  expect(required(await check())).toBe(true);
  await governance.setIntentsMode({ sessionId, mode: IntentsMode.OFF });
  expect(required(await check())).toBe(false);
  expect((await governance.getGovernanceStatus({ sessionId })).intentsMode).toBe(IntentsMode.OFF);
  const { records } = await governance.listLedgerRecords({ sessionId });
  expect(records.map(({ json }): unknown => JSON.parse(json))).toMatchObject([
    { metadata: { kind: "session", details: { intents_mode: "required", intents_mode_before: "auto" } } },
    { metadata: { kind: "session", details: { intents_mode: "off", intents_mode_before: "required" } } },
  ]);
  await expect(governance.setIntentsMode({ sessionId, mode: 0 })).rejects.toThrow(/auto, required or off/);
  await expect(governance.setIntentsMode({ sessionId: "none", mode: IntentsMode.OFF })).rejects.toThrow(
    /no session|not/,
  );
});

test("where intents are required, a person accepts the very file that was shown, which is recorded", async () => {
  const file = ".orchestration/active_intents.yaml";
  const text = 'active_intents:\n  - {id: INT-001, name: n, status: active, owned_scope: ["src/**"]}\n';
  await using server = await startTestServer({ files: { [file]: text } });
  const sessionId = await startSession(server);
  const { governance } = server;
  await governance.setIntentsMode({ sessionId, mode: IntentsMode.REQUIRED });
  const shown = await governance.listIntents({ sessionId });
  expect(shown).toMatchObject({
    accepted: false,
    warnings: [expect.stringContaining("its present text is not accepted")],
  });
  const select = () => governance.selectIntent({ sessionId, intentId: "INT-001" });
  await expect(select()).rejects.toThrow();

  // It changes while the person reads it: what was not seen is not accepted.
  await server.workspace.write(file, text.replace("src/**", "**"));
  await expect(governance.acceptIntents({ sessionId, sha256: shown.sha256 })).rejects.toThrow(
    /changed after it was shown/,
  );
  await expect(governance.acceptIntents({ sessionId, sha256: "" })).rejects.toThrow(/sha256 is empty/);
  await expect(select()).rejects.toThrow();

  const { sha256 } = await governance.listIntents({ sessionId });
  expect(await governance.acceptIntents({ sessionId, sha256 })).toMatchObject({ intents: [{ ownedScope: ["**"] }] });
  expect(await governance.listIntents({ sessionId })).toMatchObject({ accepted: true, warnings: [] });
  expect(await select()).toMatchObject({ intent: { id: "INT-001" } });
  const { records } = await governance.listLedgerRecords({ sessionId });
  const accepted = records.flatMap(({ json }) =>
    json.includes("intents_accepted") ? [JSON.parse(json) as unknown] : [],
  );
  expect(accepted).toMatchObject([{ metadata: { kind: "session", details: { intents_accepted: sha256 } } }]);
});
