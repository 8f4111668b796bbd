import { execFile } from "node:child_process";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { traceCall, traceLines } from "@gennai/client/trace-lines";
import { type LineTrace, mostTracedBytes } from "@gennai/protocol/model/governance/line-trace";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { startSession, Watcher } from "../../rpc/session-client.ts";

const written = [
  "export function average(numbers) {",
  "  const sum = numbers.reduce((total, number) => total + number, 0);",
  "  return numbers.length === 0 ? 0 : sum / numbers.length;",
  "}",
  "",
].join("\n");
const write = call("Write", { path: "src/average.js", content: written });
const script = [{ steps: [write, { text: ["Written."] }] }];
const { signal } = new AbortController();

/** Each run on one line, as a person would write it down. */
function told({ runs }: LineTrace): readonly string[] {
  return runs.map(({ firstLine, lineCount, origin }) => {
    const lines = `${firstLine}+${lineCount}`;
    return origin.type === "recorded" ? `${lines} #${origin.write.seq} ${origin.method}` : `${lines} ${origin.reason}`;
  });
}

async function afterTurn() {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startTestServer({ script }));
  const sessionId = await startSession(server, { interactive: true });
  const editor = parts.use(await Watcher.attach(server, sessionId));
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "go" });
  await editor.end();
  const { governance } = server;
  const kept = parts.move();
  return { server, sessionId, turnId, governance, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

test("a text is asked about as an editor has it, saved or not", async () => {
  await using done = await afterTurn();
  const { governance, sessionId, server } = done;
  const ask = async (text: string, path = "src/average.js") => {
    const trace = await traceLines(governance, { sessionId, path, text }, { signal });
    if (trace === undefined) throw new Error("It was not asked about.");
    return trace;
  };

  const asWritten = await ask(written);
  expect(asWritten.trust.status).toBe("ok");
  const [run] = asWritten.runs;
  expect(run).toMatchObject({
    firstLine: 1,
    lineCount: 4,
    origin: {
      type: "recorded",
      method: "same-file",
      confidence: 1,
      write: {
        path: "src/average.js",
        sessionId,
        call: { tool: "Write" },
        decision: { type: "allowed", rule: "" },
        verification: "verified",
      },
    },
  });

  // Nothing of this is on the disk.
  const unsaved = `// Typed by a person just now.\n${written}\nconst mine = 4;\n`;
  const seq = run?.origin.type === "recorded" ? run.origin.write.seq : 0;
  expect(told(await ask(unsaved))).toEqual(["1+1 not-recorded", `2+4 #${seq} same-lines`, "6+2 not-recorded"]);
  expect(told(await ask(written, "elsewhere/copied.js"))).toEqual([`1+4 #${seq} same-file`]);
  expect(told(await ask(""))).toEqual([]);
  expect(await readFile(server.workspace.path("src/average.js"), "utf8")).toBe(written);

  expect(
    await traceLines(governance, { sessionId, path: "a", text: "é".repeat(mostTracedBytes / 2 + 1) }, { signal }),
  ).toBe(undefined);
});

test("a question that makes no sense is refused", async () => {
  await using server = await startTestServer();
  const { governance } = server;
  for (const path of ["", "/etc/passwd", "src/../../a", "a\0b"]) {
    await expect(governance.traceLines({ path, text: "" }), path).rejects.toThrow("path must be relative");
  }
  await expect(governance.traceLines({ path: "a", text: "x".repeat(mostTracedBytes + 1) })).rejects.toThrow("at most");
});

test("what is left of a call is found where it stands today", async () => {
  await using done = await afterTurn();
  const { governance, sessionId, turnId, server } = done;
  const { records } = await governance.listLedgerRecords({ sessionId, limit: 100 });
  const callId = records.map(({ json }) => /"call_id":"([^"]+)"/.exec(json)?.[1]).find((id) => id !== undefined) ?? "";
  const left = () => traceCall(governance, { sessionId, turnId, callId }, { signal });
  const file = server.workspace.path("src/average.js");

  expect(await left()).toMatchObject({
    trust: { status: "ok" },
    written: 4,
    files: [{ path: "src/average.js", readable: true, spans: [{ firstLine: 1, lineCount: 4 }] }],
  });

  await writeFile(file, `// Mine.\n\n${written}`);
  expect((await left()).files).toMatchObject([{ path: "src/average.js", spans: [{ firstLine: 3, lineCount: 4 }] }]);

  await server.workspace.git("add", "--all");
  await server.workspace.git("commit", "--quiet", "--message", "Kept");
  await mkdir(server.workspace.path("lib"));
  await server.workspace.git("mv", "src/average.js", "lib/mean.js");
  expect((await left()).files).toMatchObject([
    { path: "src/average.js", readable: false, spans: [] },
    { path: "lib/mean.js", readable: true, spans: [{ firstLine: 3, lineCount: 4 }] },
  ]);

  await rename(server.workspace.path("lib/mean.js"), file);
  await writeFile(file, "const other = 1;\n");
  expect((await left()).files).toMatchObject([{ path: "src/average.js", readable: true, spans: [] }]);

  // What leads out of the workspace is not looked into.
  await promisify(execFile)("ln", ["-sf", "/etc/passwd", file]);
  expect((await left()).files).toMatchObject([{ path: "src/average.js", readable: false, spans: [] }]);

  await expect(governance.traceCall({ sessionId, turnId, callId: "" })).rejects.toThrow("Name a call");
  expect(await traceCall(governance, { sessionId, turnId, callId: "none" }, { signal })).toMatchObject({
    written: 0,
    files: [],
  });
});
