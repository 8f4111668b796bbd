import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { startTestServer } from "@gennai/testkit/test-server";
import {
  Client,
  ReadBuffer,
  serializeMessage,
  type Transport,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { runCommandLine } from "#command-line";
import { testConsole } from "../test-console.ts";

const rule = { name: "ask-make", pattern: "^make", reason: "Ask first.", ask: true };
const files = {
  "src/a.txt": "one\n",
  "docs/b.txt": "two\n",
  ".gennai/config.yaml": 'paths:\n  deny: ["docs/**"]\n',
  ".gennai/rules.yaml": JSON.stringify({ bashToolPatterns: [rule] }),
  Makefile: "all:\n\techo made > made.txt\n",
};

/** The newest revision alone, and those before it: each client speaks one of them. */
const modes: readonly VersionNegotiationMode[] = [{ pin: "2026-07-28" }, "legacy"];

interface Options {
  readonly mode?: VersionNegotiationMode;
  readonly answer?: (message: string) => string | undefined | Promise<string | undefined>;
}

/** The SDK's own client, over the streams of a command that runs in this process. */
async function connected(options: Options = {}) {
  const server = await startTestServer({ files, server: { announce: true } });
  const { root } = server.workspace;
  const [toCommand, fromCommand] = [new PassThrough(), new PassThrough()];
  const console = {
    ...testConsole(root, { GENNAI_STATE_DIR: server.stateDir, HOME: root }),
    input: toCommand,
    output: fromCommand,
  };
  const ended = runCommandLine(["mcp", "serve", "--server", "auto"], console);
  const buffer = new ReadBuffer();
  const transport: Transport = {
    async start() {
      fromCommand.on("data", (bytes: Buffer) => {
        buffer.append(bytes);
        for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage())
          transport.onmessage?.(message);
      });
    },
    async send(message) {
      toCommand.write(serializeMessage(message));
    },
    async close() {
      toCommand.end();
      transport.onclose?.();
    },
  };
  const asked: string[] = [];
  const { answer, mode = "legacy" } = options;
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: answer === undefined ? {} : { elicitation: {} }, versionNegotiation: { mode } },
  );
  if (answer !== undefined) {
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params.message);
      const said = await answer(params.message);
      return said === undefined ? { action: "decline" } : { action: "accept", content: { answer: said } };
    });
  }
  const early = ended.then((code) => {
    throw new Error(`It ended with ${code}: ${console.complained()}`);
  });
  await Promise.race([client.connect(transport), early]);
  early.catch(() => undefined);
  const { governance } = server;
  return {
    root,
    client,
    governance,
    asked,
    toCommand,
    fromCommand,
    ended,
    async call(name: string, args: object, more: { readonly signal?: AbortSignal } = {}) {
      const result = await client.callTool({ name, arguments: { ...args } }, more);
      const text = result.content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n");
      return { text, isError: result.isError === true };
    },
    async records() {
      const { records } = await governance.listLedgerRecords({ limit: 100 });
      return records.flatMap(({ json }) => {
        const { kind, calls } = recordSchema.parse(JSON.parse(json)).metadata;
        return kind === "intent" ? [] : calls.map(({ tool, verdict }) => `${kind} ${tool} ${verdict}`);
      });
    },
    async [Symbol.asyncDispose]() {
      await client.close();
      expect(await ended).toBe(0);
      await server[Symbol.asyncDispose]();
    },
  };
}

const recordSchema = z.object({
  metadata: z.object({ kind: z.string(), calls: z.array(z.object({ tool: z.string(), verdict: z.string() })) }),
});

test.each(modes)("its tools are the session's, and what they do is judged, done and on record: %s", async (mode) => {
  await using here = await connected({ mode });
  const { client, root } = here;
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["Read", "Edit", "Write", "Bash", "Glob", "Grep"]));
  expect(names).not.toEqual(expect.arrayContaining(["Task"]));
  for (const { inputSchema } of tools) expect(inputSchema.type).toBe("object");
  expect(await here.call("Read", { file_path: "src/a.txt" })).toEqual({
    text: expect.stringContaining("one"),
    isError: false,
  });
  const edit = { file_path: "src/a.txt", old_string: "one", new_string: "1" };
  expect((await here.call("Edit", edit)).isError).toBe(false);
  expect(readFileSync(join(root, "src/a.txt"), "utf8")).toBe("1\n");
  expect(await here.call("Bash", { command: "cat src/a.txt" })).toMatchObject({
    text: expect.stringContaining("1"),
    isError: false,
  });
  expect(await here.call("Glob", { pattern: "src/*" })).toMatchObject({ text: expect.stringContaining("src/a.txt") });
  expect(await here.call("Write", { file_path: "docs/new.txt", content: "x" })).toEqual({
    text: expect.stringContaining("deny list"),
    isError: true,
  });
  expect(existsSync(join(root, "docs/new.txt"))).toBe(false);
  expect(await here.call("Read", { file: 1 })).toMatchObject({ isError: true });
  expect(await here.call("Task", { prompt: "x" })).toEqual({ text: expect.stringContaining("no tool"), isError: true });
  expect(await here.records()).toEqual(
    expect.arrayContaining(["outcome Read allow", "outcome Edit allow", "outcome Bash allow", "refusal Write deny"]),
  );
});

describe.each(modes)("what a rule asks about: %s", (mode) => {
  test("is refused where the client cannot ask, with how to answer it", async () => {
    await using here = await connected({ mode });
    const { text, isError } = await here.call("Bash", { command: "make" });
    expect([isError, text]).toEqual([true, expect.stringMatching(/nobody can be asked[\s\S]*no rule can allow it/)]);
    expect(existsSync(join(here.root, "made.txt"))).toBe(false);
  });

  test.each([
    ["yes", "Yes, once", false],
    ["no", "No", true],
    ["nothing that was offered", "Yes, always", true],
    ["a refusal to say", undefined, true],
  ])("is asked by the client: %s", async (_what, answer, isRefused) => {
    await using here = await connected({ mode, answer: () => answer });
    expect((await here.call("Bash", { command: "make" })).isError).toBe(isRefused);
    expect(here.asked).toEqual([
      expect.stringMatching(
        /computed by the server[\s\S]*make[\s\S]*No intent is selected[\s\S]*rules\/project\/ask-make/,
      ),
    ]);
    expect(existsSync(join(here.root, "made.txt"))).toBe(!isRefused);
  });
});

test("a call is over when its client cancels it in place of an answer", async () => {
  const question = Promise.withResolvers<undefined>();
  await using here = await connected({
    answer: () => {
      question.resolve(undefined);
      return new Promise(() => undefined);
    },
  });
  const interrupted = new AbortController();
  const left = here.call("Bash", { command: "make" }, { signal: interrupted.signal });
  await question.promise;
  interrupted.abort();
  await expect(left).rejects.toThrow();
  expect(await here.call("Read", { file_path: "src/a.txt" })).toMatchObject({ isError: false });
  expect(existsSync(join(here.root, "made.txt"))).toBe(false);
});

test("a call is over when its client of the newest revision goes on without an answer", async () => {
  await using here = await connected({ mode: { pin: "2026-07-28" }, answer: () => "Yes, once" });
  const { requestState, inputRequests } = askedSchema.parse(
    await here.client.request(make, { allowInputRequired: true }),
  );
  expect(await here.call("Read", { file_path: "src/a.txt" })).toMatchObject({ isError: false });
  const late = { requestState, inputResponses: answering(inputRequests) };
  const result = await here.client.request({ ...make, params: { ...make.params, ...late } });
  expect(result).toMatchObject({ isError: true });
  expect(existsSync(join(here.root, "made.txt"))).toBe(false);
});

const make = { method: "tools/call", params: { name: "Bash", arguments: { command: "make" } } } as const;
const askedSchema = z.looseObject({ requestState: z.string(), inputRequests: z.record(z.string(), z.unknown()) });

/** A yes to each of these questions. */
function answering(inputRequests: Readonly<Record<string, unknown>>) {
  const yes = { action: "accept", content: { answer: "Yes, once" } };
  return Object.fromEntries(Object.keys(inputRequests).map((id) => [id, yes]));
}

test("an answer counts for its own question only, and a call that is over is not made again", async () => {
  await using here = await connected({ mode: { pin: "2026-07-28" }, answer: () => "Yes, once" });
  const first = await here.client.request(make, { allowInputRequired: true });
  const { requestState, inputRequests } = askedSchema.parse(first);
  const again = (inputResponses: Readonly<Record<string, unknown>>, state = requestState) =>
    here.client.request(
      { ...make, params: { ...make.params, requestState: state, inputResponses } },
      { allowInputRequired: true },
    );
  expect(await again(answering({ other: {} }))).toMatchObject({ requestState, inputRequests });
  expect(existsSync(join(here.root, "made.txt"))).toBe(false);
  expect(await again(answering(inputRequests), "guessed")).toMatchObject({ isError: true });
  expect(await again(answering(inputRequests))).toMatchObject({ isError: false });
  const over: unknown = expect.stringContaining("is over");
  expect(await again(answering(inputRequests))).toMatchObject({ isError: true, content: [{ text: over }] });
});

test("many calls at once, each gets its own result; one that is cancelled is stopped, and the next one runs", async () => {
  await using here = await connected();
  const results = await Promise.all(["a", "b", "c"].map((word) => here.call("Bash", { command: `echo ${word}-said` })));
  expect(results.map(({ text }) => /([abc])-said/.exec(text)?.[1])).toEqual(["a", "b", "c"]);
  const cancelling = new AbortController();
  const slow = here.call("Bash", { command: "cat src/a.txt; sleep 600" }, { signal: cancelling.signal });
  const next = here.call("Read", { file_path: "src/a.txt" });
  cancelling.abort();
  await expect(slow).rejects.toThrow();
  expect(await next).toMatchObject({ text: expect.stringContaining("one"), isError: false });
});

test("an emergency control holds, and nonsense on the input ends nothing", async () => {
  await using here = await connected();
  await here.governance.setEmergencyControl({
    control: EmergencyControl.STOP_ALL,
    enabled: true,
    by: "a",
    reason: "b",
  });
  const { isError, text } = await here.call("Read", { file_path: "src/a.txt" });
  expect([isError, text]).toEqual([true, expect.stringMatching(/emergency|stopped/i)]);
  await here.governance.setEmergencyControl({
    control: EmergencyControl.STOP_ALL,
    enabled: false,
    by: "a",
    reason: "b",
  });
  here.toCommand.write('nonsense\n{"jsonrpc":"2.0"}\n{"id":1}\n[]\n');
  expect(await here.call("Read", { file_path: "src/a.txt" })).toMatchObject({ isError: false });
});

test("a client that goes while a call runs leaves nothing running", async () => {
  await using here = await connected();
  const lost = here.call("Bash", { command: "sleep 601" }).catch(() => "gone");
  await here.client.close();
  expect(await lost).toBe("gone");
  expect(await here.ended).toBe(0);
});
