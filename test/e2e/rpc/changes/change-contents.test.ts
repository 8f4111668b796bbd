import type { AppliedFile } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { allEvents, codeOf, eventsOf, runTurn, startSession } from "../session-client.ts";

test("both sides of what a call changed can be read, and the call is named", async () => {
  await using server = await startTestServer({
    files: { "a.txt": "one\n" },
    steps: [
      call("Read", { file_path: "a.txt" }),
      { text: ["Read."] },
      call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" }),
      { text: ["Edited."] },
      call("Write", { file_path: "new.txt", content: "new\n" }),
      { text: ["Written."] },
    ],
  });
  const { sessionId, changes, calls } = await changesOf(server);
  const made = changes.map(({ toolCallId, files }) => [calls.get(toolCallId), files.map(({ path }) => path)]);
  expect(made).toEqual([
    ["Edit", ["a.txt"]],
    ["Write", ["new.txt"]],
  ]);
  const files = changes.flatMap((change) => change.files);
  expect(await Promise.all(files.map((file) => sides(server, sessionId, file)))).toEqual([
    ["one\n", "two\n"],
    [undefined, "new\n"],
  ]);
  const other = await startSession(server);
  expect(await codeOf(server.client.getBlob({ sessionId: other, sha256: files[0]?.afterSha256 ?? "" }))).toBe(
    "not_found",
  );
});

test("of a command that ran on a copy as well", async () => {
  await using server = await startTestServer({
    files: { "a.txt": "one\n", "b.txt": "b\n" },
    steps: [call("Bash", { command: "sed -i s/one/two/ a.txt && printf x > c.txt && rm b.txt" }), { text: ["Done."] }],
    server: { commands: "staged" },
  });
  const { sessionId, changes, calls } = await changesOf(server);
  expect(changes.map(({ toolCallId }) => calls.get(toolCallId))).toEqual(["Bash"]);
  const files = changes.flatMap((change) => change.files).sort((one, other) => (one.path < other.path ? -1 : 1));
  expect(await Promise.all(files.map((file) => sides(server, sessionId, file)))).toEqual([
    ["one\n", "two\n"],
    ["b\n", undefined],
    [undefined, "x"],
  ]);
});

test("what holds a secret after it is not kept a second time", async () => {
  const secret = `ghp_${"A1b2C3d4E5f6".repeat(3)}`;
  await using server = await startTestServer({
    files: { "a.txt": "one\n" },
    steps: [call("Bash", { command: `printf 'token = "ghp_%s"\\n' ${secret.slice(4)} > a.txt` }), { text: ["Done."] }],
    server: { commands: "staged" },
  });
  const { sessionId, changes } = await changesOf(server);
  expect(await server.workspace.read("a.txt")).toContain(secret);
  const [file] = changes.flatMap((change) => change.files);
  expect(file).toBeDefined();
  expect(await codeOf(server.client.getBlob({ sessionId, sha256: file?.afterSha256 ?? "" }))).toBe("not_found");
});

test("what held a secret before it can be undone, and is shown to nobody", async () => {
  const line = `token = "ghp_${"A1b2C3d4E5f6".repeat(3)}"\n`;
  await using server = await startTestServer({
    files: { "a.txt": line },
    steps: [call("Bash", { command: "echo clean > a.txt" }), { text: ["Done."] }],
    server: { commands: "staged" },
  });
  const { sessionId, changes } = await changesOf(server);
  const [file] = changes.flatMap((change) => change.files);
  expect(await codeOf(server.client.getBlob({ sessionId, sha256: file?.beforeSha256 ?? "" }))).toBe("not_found");
  expect((await server.client.getBlob({ sessionId, sha256: file?.afterSha256 ?? "" })).content).toHaveLength(6);
  await server.client.undoChangeSet({ sessionId });
  expect(await server.workspace.read("a.txt")).toBe(line);
});

async function changesOf(server: TestServer) {
  const sessionId = await startSession(server);
  await runTurn(server, sessionId, "go");
  const events = await allEvents(server, sessionId);
  const calls = new Map(eventsOf(events, "toolCall").map(({ id, name }) => [id, name]));
  return { sessionId, changes: eventsOf(events, "changeSetApplied"), calls };
}

async function sides(server: TestServer, sessionId: string, { beforeSha256, afterSha256 }: AppliedFile) {
  const text = async (sha256: string) =>
    sha256 === "" ? undefined : new TextDecoder().decode((await server.client.getBlob({ sessionId, sha256 })).content);
  return [await text(beforeSha256), await text(afterSha256)];
}
