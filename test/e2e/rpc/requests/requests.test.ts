import { sha256Hex } from "@gennai/protocol/digest";
import { CommandState, FileSource } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { RequestFileRead } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { refusalOf, startSession, Watcher } from "../session-client.ts";
import { useServer } from "../use-server.ts";

const read = { match: ".", steps: [call("Read", { file_path: "a.txt" }), { text: ["Read."] }] };

const reading = useServer(() =>
  startTestServer({ files: { "a.txt": "on disk\n", "b.txt": "other\n" }, script: [read] }),
);

async function askedToRead(
  server: TestServer,
): Promise<{ sessionId: string; editor: Watcher; request: RequestFileRead }> {
  const sessionId = await startSession(server, { interactive: true });
  const editor = await Watcher.attach(server, sessionId);
  await server.client.startTurn({ sessionId, userInput: "read", clientTurnId: "turn" });
  return { sessionId, editor, request: await editor.next("requestFileRead") };
}

function bufferOf(request: RequestFileRead, content = "in the buffer\n") {
  const { requestId, path } = request;
  const value = {
    requestId,
    path,
    content,
    source: FileSource.BUFFER,
    version: 3n,
    dirty: true,
    sha256: sha256Hex(content),
    totalLines: 2,
  };
  return { case: "fileReadResponse", value } as const;
}

describe("a file read", () => {
  test("gets the buffer with its unsaved changes", async () => {
    const server = reading();
    const { editor, request } = await askedToRead(server);
    await using _editor = editor;
    expect(request).toMatchObject({ path: "a.txt", offset: 1 });
    await editor.submit(bufferOf(request), request.ownerEpoch);
    expect((await editor.next("toolResult")).output).toContain("in the buffer");
    expect(await editor.end()).toBe("COMPLETED");
  });

  type Event = Parameters<Watcher["submit"]>[0];
  const wrong: readonly [string, (request: RequestFileRead) => Event, string][] = [
    ["for another path", (request) => bufferOf({ ...request, path: "b.txt" }), "invalid_argument"],
    [
      "of another kind",
      ({ requestId }) => ({ case: "commandDispatchResponse", value: { requestId, status: "SENT" } }),
      "invalid_argument",
    ],
    ["without a request", (request) => bufferOf({ ...request, requestId: "" }), "invalid_argument"],
    ["to an id that is no UUID", (request) => bufferOf({ ...request, requestId: "1" }), "invalid_argument"],
    ["to an id of 10 kB", (request) => bufferOf({ ...request, requestId: "a".repeat(10_000) }), "invalid_argument"],
    [
      "to a request nobody made",
      (request) => bufferOf({ ...request, requestId: "00000000-0000-4000-8000-000000000000" }),
      "not_found",
    ],
    ["that is empty", () => ({ case: undefined }), "invalid_argument"],
    [
      "of a third kind",
      ({ requestId }) => ({ case: "applyChangesResponse", value: { requestId } }),
      "invalid_argument",
    ],
    [
      "of a fourth kind",
      ({ requestId }) => ({ case: "diagnosticsResponse", value: { requestId } }),
      "invalid_argument",
    ],
  ];
  test("what is no answer to it is refused, and the right one still counts", async () => {
    const { editor, request } = await askedToRead(reading());
    await using _editor = editor;
    for (const [what, make, code] of wrong) {
      expect(await refusalOf(editor.submit(make(request))), what).toMatchObject({ code, info: code });
    }
    await editor.submit(bufferOf(request));
    expect((await editor.next("toolResult")).output).toContain("in the buffer");
  });

  test("an answer by an earlier owner's epoch is refused", async () => {
    const server = reading();
    const { editor, request } = await askedToRead(server);
    await using _editor = editor;
    expect(await refusalOf(editor.submit(bufferOf(request), request.ownerEpoch + 1n))).toMatchObject({
      code: "failed_precondition",
    });
    await editor.submit(bufferOf(request));
    expect(await editor.end()).toBe("COMPLETED");
  });

  test("another session cannot answer", async () => {
    const server = reading();
    const { editor, request } = await askedToRead(server);
    await using _editor = editor;
    await using stranger = await Watcher.attach(server, await startSession(server, { interactive: true }));
    expect(await refusalOf(stranger.submit(bufferOf(request)))).toMatchObject({ code: "permission_denied" });
    await editor.submit(bufferOf(request));
    expect(await editor.end()).toBe("COMPLETED");
    expect(await refusalOf(stranger.submit(bufferOf(request)))).toMatchObject({ code: "permission_denied" });
  });
});

describe("a command in the user's terminal", () => {
  const command = { steps: [call("RunInTerminal", { command: "ls", reveal: false }), { text: ["Ran."] }] };

  test("streams output, ends with the exit code, and may be running meanwhile", async () => {
    await using server = await startTestServer({ script: [command] });
    await using editor = await Watcher.begin(server, { userInput: "run" });
    const request = await Promise.race([
      editor.next("executeCommandRequest"),
      editor.next("confirmationRequest").then(async (question) => {
        await editor.answer(question);
        return editor.next("executeCommandRequest");
      }),
    ]);
    expect(request).toMatchObject({
      command: "ls",
      cwd: server.workspace.root,
      reveal: false,
      terminalName: "Gennai Agent",
    });
    const { requestId } = request;
    const running = { requestId, status: "SENT", state: CommandState.RUNNING, terminalId: "t" };
    await editor.submit({ case: "commandDispatchResponse", value: running });
    await editor.submit({ case: "commandOutput", value: { requestId, text: "half\n" } });
    expect((await editor.next("toolOutputDelta")).text).toContain("half");
    const wrong = { requestId, status: "MAYBE" };
    expect(await refusalOf(editor.submit({ case: "commandDispatchResponse", value: wrong }))).toMatchObject({
      code: "invalid_argument",
    });
    const exited = {
      requestId,
      status: "SENT",
      state: CommandState.EXITED,
      exitCode: 3,
      output: "half\nwhole\n",
      terminalId: "t",
    };
    await editor.submit({ case: "commandDispatchResponse", value: exited });
    expect(await editor.next("toolResult")).toMatchObject({
      exitCode: 3,
      error: "The command ended with exit code 3.",
    });
    expect(await editor.end()).toBe("COMPLETED");
  });
});
