import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { endState, eventsOf, runTurn, startSession } from "../../rpc/session-client.ts";

const token = ["ghp", "x7Kq2mV9tR4wB8nL1cF6hJ3pD5sG0yZaQeUi"].join("_");
const before = "one\ntwo\nthree\nfour\nfive\nsix\n";
const read = call("Read", { file_path: "a.txt" });
const script = [
  { match: "^read", steps: [read, { text: ["Read."] }] },
  {
    match: "^edit",
    steps: [call("Edit", { file_path: "a.txt", old_string: "two", new_string: "TWO" }), { text: ["Over."] }],
  },
  {
    match: "^write",
    steps: [call("Write", { file_path: "a.txt", content: before.replace("five", "FIVE") }), { text: ["Over."] }],
  },
];

/** The refusal of the one change of a turn. */
async function refusal(server: TestServer, sessionId: string, prompt: string) {
  const events = await runTurn(server, sessionId, prompt);
  expect(endState(events)).toBe("COMPLETED");
  const [result] = eventsOf(events, "toolResult");
  return (JSON.parse(result?.output ?? "{}") as { error: { code: string; hint: string; detail?: string } }).error;
}

const readThenChanged = async (after: string) => {
  const server = await startTestServer({ files: { "a.txt": before }, script });
  const sessionId = await startSession(server);
  await runTurn(server, sessionId, "read");
  writeFileSync(server.workspace.path("a.txt"), after);
  return { server, sessionId };
};

test("seed 001: Stale File comes with a three-way diff", async () => {
  const { server, sessionId } = await readThenChanged(before.replace("five", "5"));
  await using _server = server;
  const error = await refusal(server, sessionId, "edit");
  expect(error.code).toBe("stale_file");
  for (const part of ["-two\n+TWO", "-five\n+5"]) expect(error.detail).toContain(part);
});

test("also in a session that was opened again, and without the text it says so", async () => {
  const { server, sessionId } = await readThenChanged(before.replace("five", "5"));
  await using _server = server;
  await server.restart();
  expect((await refusal(server, sessionId, "edit")).detail).toContain("-five\n+5");

  await using small = await startTestServer({ files: { "a.txt": before.repeat(60_000) }, script });
  const other = await startSession(small);
  await runTurn(small, other, "read");
  writeFileSync(small.workspace.path("a.txt"), "all new\n");
  const error = await refusal(small, other, "write");
  expect([error.code, error.detail]).toEqual(["stale_file", expect.stringContaining("not kept any more")]);
});

test("is masked and bounded", async () => {
  const { server, sessionId } = await readThenChanged(`GITHUB_TOKEN=${token}\n${"another line\n".repeat(5_000)}`);
  await using _server = server;
  const { detail = "" } = await refusal(server, sessionId, "write");
  expect(detail).toContain("[REDACTED:");
  expect(detail).not.toContain(token);
  expect(detail.length).toBeLessThan(13_000);
});

test.each([
  ["its content is closed", "zeroAccessPaths: [a.txt]\n", "rule_violation"],
  ["reading is closed", "tools: {deny: [Read]}\n", "stale_file"],
])("is not shown where a read would be refused by now: %s", async (_name, rules, code) => {
  const { server, sessionId } = await readThenChanged("the text of somebody\n");
  await using _server = server;
  await mkdir(server.workspace.path(".gennai"));
  writeFileSync(server.workspace.path(".gennai/rules.yaml"), rules);
  const error = await refusal(server, sessionId, "write");
  expect([error.code, error.detail]).toEqual([code, undefined]);
  expect(JSON.stringify(error)).not.toContain("somebody");
});
