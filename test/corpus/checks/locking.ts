import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { FileSource } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { runTurn, startSession, Watcher } from "../../e2e/rpc/session-client.ts";
import { type Checks, check } from "../corpus-case.ts";
import { sha256 } from "../local-files.ts";
import { type Called, calledLast, expectCode, scriptOf, type ToolUse } from "../tool-call.ts";

const read: ToolUse = { tool: "Read", args: { file_path: "src/a.ts" } };
const write: ToolUse = { tool: "Write", args: { file_path: "src/a.ts", content: "export const a = 2;\n" } };
const remove: ToolUse = { tool: "Delete", args: { file_path: "src/a.ts" } };

/** A session reads in one turn; the world moves; it calls the tool in the next. Gives the result and what is on disk. */
async function readThen(
  use: ToolUse,
  between: (server: TestServer, sessionId: string) => Promise<unknown>,
  before: readonly ToolUse[] = [read],
) {
  await using server = await startTestServer({
    files: { "src/a.ts": "export const a = 1;\n" },
    script: [
      { ...scriptOf(before), match: "first" },
      { ...scriptOf([use]), match: "second" },
    ],
  });
  const sessionId = await startSession(server);
  await runTurn(server, sessionId, "first");
  await between(server, sessionId);
  const called = calledLast(await runTurn(server, sessionId, "second"));
  const onDisk = existsSync(server.workspace.path("src/a.ts")) ? await server.workspace.read("src/a.ts") : undefined;
  return { called, onDisk };
}

function expectStale(
  { called, onDisk }: { readonly called: Called; readonly onDisk: string | undefined },
  left: string | undefined,
): void {
  assert.deepEqual([called.code, onDisk], ["stale_file", left]);
}

/** What the editor's unsaved buffer showed is no base for a write to the disk. */
export async function bufferIsNoBaseOfTheDisk(): Promise<void> {
  await using server = await startTestServer({ files: { "src/a.ts": "on disk\n" }, script: [scriptOf([read, write])] });
  await using editor = await Watcher.begin(server, { capabilities: { fileRead: true } });
  const content = "unsaved\n";
  let answered = 0;
  const answering = editor.until((events) => {
    const asked = events.flatMap(({ event }) => (event.case === "requestFileRead" ? [event.value] : []));
    for (const { requestId, path } of asked.slice(answered)) {
      answered += 1;
      const value = {
        requestId,
        path,
        content,
        source: FileSource.BUFFER,
        dirty: true,
        version: 2n,
        sha256: sha256(content),
        diskSha256: sha256("on disk\n"),
      };
      void editor.submit({ case: "fileReadResponse", value }).catch(() => undefined);
    }
    return events.some(({ event }) => event.case === "final") || undefined;
  });
  await answering;
  const { code } = calledLast(editor.events);
  assert.ok(
    ["stale_file", "unsaved_changes", "tool_unavailable", "editor_has_changes"].includes(code),
    `the write ended with ${code}`,
  );
  assert.equal(await server.workspace.read("src/a.ts"), "on disk\n");
}

/** Two sessions read a file, one writes it: the other one's write is stale. */
export async function secondSessionLoses(): Promise<void> {
  const result = await readThen(write, async (server) => {
    const model = await server.scriptFile([
      scriptOf([read, { tool: "Write", args: { file_path: "src/a.ts", content: "theirs\n" } }]),
    ]);
    const other = await startSession(server, { settings: { backend: 21, model } });
    assert.equal(calledLast(await runTurn(server, other, "go")).code, "ok");
  });
  expectStale(result, "theirs\n");
}

export const lockingChecks: Checks = {
  "LCK-001": check(() =>
    expectCode("not_read", write.tool, write.args, {
      after: async ({ workspace }) => assert.equal(await workspace.read("src/a.ts"), "export const a = 1;\n"),
    }),
  ),
  "LCK-005": check(bufferIsNoBaseOfTheDisk),
  "LCK-008": check(async () => {
    const formatted = "export const a = 2\n";
    expectStale(
      await readThen(write, (server) => server.workspace.write("src/a.ts", formatted), [read, write]),
      formatted,
    );
  }),
  "LCK-010": check(secondSessionLoses),
  "LCK-012": check(async () => {
    expectStale(await readThen(remove, (server) => server.workspace.write("src/a.ts", "mine\n")), "mine\n");
  }),
  "LCK-013": check(async () => {
    const move: ToolUse = { tool: "Move", args: { from: "src/a.ts", to: "src/b.ts" } };
    expectStale(await readThen(move, (server) => server.workspace.write("src/a.ts", "mine\n")), "mine\n");
    const { called, onDisk } = await readThen(move, (server) => server.workspace.write("src/b.ts", "theirs\n"));
    assert.notEqual(called.code, "ok");
    assert.equal(onDisk, "export const a = 1;\n");
  }),
};
