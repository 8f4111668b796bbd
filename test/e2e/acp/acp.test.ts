import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { platform } from "node:os";
import { promisify } from "node:util";
import { methods, RequestError } from "@agentclientprotocol/sdk";
import { listening } from "@gennai/testkit/listening";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import * as z from "zod";
import { openEditor, program, saidIn } from "./acp-editor.ts";

const read = call("Read", { file_path: "a.txt" });
const edit = call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" });

test("a prompt is answered by thoughts, text, calls with their files, and a diff of what was written", async () => {
  await using editor = await openEditor({
    script: [{ steps: [{ thinking: ["Hm."] }, read, edit, { text: ["Done."] }] }],
  });
  expect(editor.initialized).toMatchObject({ protocolVersion: 1, agentInfo: { name: "gennai" } });
  const { sessionId, modes } = await editor.newSession();
  expect(modes).toMatchObject({ currentModeId: "branch" });
  expect(await editor.prompt(sessionId, "make it two")).toEqual({ stopReason: "end_turn" });

  const { updates, repository } = editor;
  expect(saidIn(updates)).toBe("Branch ai-agent/make-it-two (created).\n\nDone.");
  expect(updates).toContainEqual({
    sessionUpdate: "agent_thought_chunk",
    content: { type: "text", text: "Hm." },
    messageId: expect.any(String),
  });
  expect(updates).toContainEqual(
    expect.objectContaining({
      title: "Read a.txt",
      kind: "read",
      locations: [{ path: repository.path("a.txt"), line: null }],
    }),
  );
  expect(updates).toContainEqual(
    expect.objectContaining({
      sessionUpdate: "tool_call_update",
      content: expect.arrayContaining([
        { type: "diff", path: repository.path("a.txt"), oldText: "one\n", newText: "two\n" },
      ]),
    }),
  );
  expect(await repository.read("a.txt")).toBe("two\n");
  expect(await repository.git("branch", "--show-current")).toBe("ai-agent/make-it-two");
});

test("a question of the gate is asked in the editor, with what the server computed, and the answer holds", async () => {
  await using service = await startService();
  const curl = bash(`curl -s http://127.0.0.1:${service.port}/`);
  const answers = ["deny", "once"];
  await using editor = await openEditor({
    script: [{ steps: [curl, { text: ["First."] }] }, { steps: [curl, { text: ["Second."] }] }],
    choose: () => answers.shift(),
  });
  const { sessionId } = await editor.newSession();
  await editor.prompt(sessionId, "fetch it");
  expect(service.requests()).toBe(0);
  const [question] = editor.questions;
  expect(question?.options.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["allow_once", "reject_once"]));
  expect(JSON.stringify(question?.toolCall.content)).toMatch(/risk\*\*, computed by the server.*127\.0\.0\.1/);
  await editor.prompt(sessionId, "fetch it again");
  expect(service.requests()).toBe(1);
  expect(JSON.stringify(editor.updates)).toContain("served 1");
});

test("in Proposal Mode nothing is written before the editor's user keeps it", async () => {
  let before = "";
  await using editor = await openEditor({
    script: [{ steps: [read, edit, { text: ["Proposed."] }] }],
    choose: async () => {
      before = await editor.repository.read("a.txt");
      return "keep";
    },
  });
  const { sessionId } = await editor.newSession();
  await editor.agent.request(methods.agent.session.setMode, { sessionId, modeId: "proposal" });
  await editor.prompt(sessionId, "make it two");
  expect(before).toBe("one\n");
  expect(editor.questions.map(({ toolCall }) => toolCall.title)).toEqual(["Write the proposed changes: a.txt"]);
  expect(editor.updates).toContainEqual(
    expect.objectContaining({ sessionUpdate: "tool_call", title: "Proposed changes of 1 file" }),
  );
  expect(saidIn(editor.updates)).toContain("Written: a.txt");
  expect(await editor.repository.read("a.txt")).toBe("two\n");
});

test("a session is listed, and loaded with all that happened in it", async () => {
  await using editor = await openEditor({ script: [{ steps: [read, edit, { text: ["Done."] }] }] });
  const { sessionId } = await editor.newSession();
  await editor.prompt(sessionId, "make it two");
  const cwd = editor.repository.root;
  const { sessions } = await editor.agent.request(methods.agent.session.list, { cwd });
  expect(sessions).toMatchObject([{ sessionId, cwd, title: "make it two" }]);
  editor.updates.length = 0;
  await editor.agent.request(methods.agent.session.load, { sessionId, cwd, mcpServers: [] });
  expect(editor.updates[0]).toMatchObject({ sessionUpdate: "user_message_chunk", content: { text: "make it two" } });
  expect(saidIn(editor.updates)).toBe("Branch ai-agent/make-it-two (created).\n\nDone.");
  expect(JSON.stringify(editor.updates)).toContain('"newText":"two\\n"');
});

test("what cannot be is refused with what to do", async () => {
  await using editor = await openEditor({ script: [{ steps: [{ text: ["Hello."] }] }] });
  const refused = (work: Promise<unknown>) => work.catch((error: unknown) => error);
  const { agent } = editor;
  const nowhere = await refused(agent.request(methods.agent.session.new, { cwd: "/no/such/place", mcpServers: [] }));
  expect(nowhere).toBeInstanceOf(RequestError);
  expect(String(nowhere)).toContain("/no/such/place is not there.");
  const { sessionId } = await editor.newSession();
  const audio = await refused(
    agent.request(methods.agent.session.prompt, {
      sessionId,
      prompt: [{ type: "audio", data: "", mimeType: "audio/wav" }],
    }),
  );
  expect(String(audio)).toContain("Write the prompt as text.");
  expect(String(await refused(agent.request(methods.agent.session.setMode, { sessionId, modeId: "no" })))).toContain(
    "There is no mode no.",
  );
  expect(String(await refused(editor.prompt("no-such-session", "hello")))).toContain("no open session");
});

test("outside of a repository nothing is started in Branch Mode, and the editor is told why", async () => {
  await using plain = await temporaryDirectory();
  await using editor = await openEditor({ script: [{ steps: [edit, { text: ["Never."] }] }] });
  const { sessionId } = await editor.agent.request(methods.agent.session.new, { cwd: plain.root, mcpServers: [] });
  expect(await editor.prompt(sessionId, "write")).toEqual({ stopReason: "refusal" });
  expect(saidIn(editor.updates)).toMatch(/choose the mode Proposal/);
});

test("what is not a message is answered as such, one that is too large ends it with a word, and the output is the protocol's", async () => {
  await using editor = await openEditor({ script: [{ steps: [{ text: ["Hello."] }] }] });
  const { process: agent } = editor;
  const output: string[] = [];
  agent.stdout?.on("data", (part) => output.push(String(part)));
  agent.stdin?.write("{broken\n[1]\n7\n");
  const { sessionId } = await editor.newSession();
  expect(await editor.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
  const lines = output.join("").trimEnd().split("\n");
  const message = z.object({ jsonrpc: z.string(), error: z.object({ code: z.number() }).optional() });
  const messages = lines.map((line) => message.parse(JSON.parse(line)));
  expect(messages.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true);
  expect(messages.flatMap(({ error }) => (error === undefined ? [] : [error.code]))).toEqual([-32700, -32600, -32600]);

  const exit = once(agent, "exit");
  agent.stdin?.on("error", () => undefined);
  agent.stdin?.write("x".repeat(33 * 1024 * 1024));
  expect(await exit).toEqual([2, null]);
  expect(editor.log()).toContain("Send less at once");
});

/** On the loopback; counts what reaches it. */
async function startService() {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.end(`served ${requests}\n`);
  });
  const { port } = await listening(server);
  return {
    port,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

test("an editor with terminals can have a key set there, which the system's keychain asks for and keeps", async (context) => {
  context.skip(platform() !== "linux", "the keychain here is a program of Linux");
  await using editor = await openEditor({ script: [] });
  const { authMethods = [] } = editor.initialized;
  expect(authMethods.map(({ name }) => name)).toEqual(
    ["Anthropic", "OpenAI", "Google Gemini"].map((of) => `Set the key of ${of}`),
  );
  const keychain = editor.state.path("secret-tool");
  await writeFile(keychain, '#!/bin/sh\necho "$@"\n');
  await chmod(keychain, 0o700);
  const env = { ...process.env, PATH: `${editor.state.root}:${process.env["PATH"]}` };
  const args = authMethods.flatMap((method) =>
    method.id === "key-anthropic" && "args" in method ? (method.args ?? []) : [],
  );
  const { stdout } = await promisify(execFile)(process.execPath, [program, "acp", ...args], { env });
  expect(stdout.split("\n")).toEqual([
    "The key of Anthropic:",
    "store --label A key for Gennai service gennai account anthropic",
    expect.stringMatching(/environment still comes first.*at its next start/),
    "",
  ]);
  const failed = promisify(execFile)(process.execPath, [program, "acp", ...args], {
    env: { ...env, PATH: "/nowhere" },
  });
  await expect(failed).rejects.toMatchObject({ stderr: expect.stringContaining("The key was not kept") });
});
