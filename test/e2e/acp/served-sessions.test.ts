import { existsSync } from "node:fs";
import { type CreateElicitationResponse, methods, RequestError } from "@agentclientprotocol/sdk";
import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { saidIn } from "./acp-editor.ts";
import { servedEditor } from "./served-editor.ts";

const read = call("Read", { file_path: "a.txt" });
const edit = call("Edit", { file_path: "a.txt", old_string: "one", new_string: "two" });
const work = { match: ".", steps: [read, edit, { text: ["Done."] }] };
const files = { "a.txt": "one\n" };
const colours = {
  questions: [
    {
      question: "Which colour?",
      header: "Colour",
      options: [
        { label: "Red", description: "like fire" },
        { label: "Blue", description: "" },
      ],
    },
  ],
};
const asks = { steps: [call("AskUser", colours), { text: ["Thanks."] }] };
const change = { path: "a.txt", operation: "update", new_content: "two\n" };
const proposes = { steps: [read, call("ProposeChanges", { changes: [change] }), { text: ["."] }] };
/** What the tool gave the model. */
const results = (updates: readonly unknown[]) =>
  JSON.stringify(updates.filter((update) => JSON.stringify(update).includes('"sessionUpdate":"tool_call_update"')));

test("commands are told after the session is there, and do what they say", async () => {
  await using editor = await servedEditor({ files, script: [work, work, work, work] });
  await expect.poll(() => JSON.stringify(editor.updates)).toContain("available_commands_update");
  const told = editor.updates.find(({ sessionUpdate }) => sessionUpdate === "available_commands_update");
  expect(told).toMatchObject({
    availableCommands: expect.arrayContaining([
      { name: "undo", description: expect.any(String), input: null },
      { name: "read-only", description: expect.any(String), input: { hint: "on | off REASON" } },
    ]),
  });
  const says = async (prompt: string) => {
    editor.updates.length = 0;
    expect(await editor.prompt(prompt), saidIn(editor.updates)).toEqual({ stopReason: "end_turn" });
    return saidIn(editor.updates);
  };
  const file = () => editor.server.workspace.read("a.txt");

  await says("make it two");
  expect(await file()).toBe("two\n");
  expect(await says("/undo")).toBe("Undone: a.txt.");
  expect(await file()).toBe("one\n");
  expect(await says("/compact")).toMatch(/nothing to shorten|About \d+ tokens/);
  expect(await says("/intent")).toMatch(/No intents here/);
  expect(await says("/read-only")).toMatch(/Say `\/read-only on`/);
  expect(await says("/read-only on")).toBe("Read-only from now on, for all sessions.");
  await says("make it two");
  expect(JSON.stringify(editor.updates)).toMatch(/read-only/i);
  expect(await file()).toBe("one\n");
  expect(await says("/read-only off")).toMatch(/REASON/);
  expect(await says("/read-only off it was a test")).toBe("Read-only is lifted.");
  // Nothing is known of this word, so the model reads it.
  expect(await says("/usr/bin is a directory")).toContain("Done.");
  expect(await file()).toBe("two\n");
});

test("a command that the server refuses says why", async () => {
  await using editor = await servedEditor({ files, script: [work] });
  const refused = await editor.prompt("/intent no-such-intent").catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(RequestError);
  expect(String(refused)).toMatch(/cite a valid active Intent ID/);
});

test("mode, model and effort are settings of the session, told and changed", async () => {
  await using editor = await servedEditor({ files, script: [work] });
  const valuesOf = (options: typeof editor.session.configOptions) =>
    Object.fromEntries(
      (options ?? []).map((option) => [option.id, option.type === "select" ? option.currentValue : ""]),
    );
  expect(valuesOf(editor.session.configOptions)).toEqual({
    mode: "branch",
    model: expect.stringMatching(/^scripted\//),
    effort: "usual",
  });
  const { configOptions } = await editor.set("mode", "proposal");
  expect(valuesOf(configOptions)).toMatchObject({ mode: "proposal" });
  expect(editor.updates).toContainEqual({ sessionUpdate: "current_mode_update", currentModeId: "proposal" });
  expect(valuesOf((await editor.set("effort", "high")).configOptions)).toMatchObject({ effort: "high" });
  for (const [id, value] of [
    ["model", "anthropic/of-no-list"],
    ["effort", "endless"],
    ["colour", "red"],
  ] as const) {
    const refused = await editor.set(id, value).catch((error: unknown) => error);
    expect(String(refused)).toContain(`There is no ${id} ${value}.`);
  }
});

test("a question of the model is a form where the editor has them", async () => {
  const answers: readonly (readonly [CreateElicitationResponse, RegExp])[] = [
    [{ action: "accept", content: { "0": "1" } }, /Blue/],
    [{ action: "accept", content: { "0.text": "green" } }, /green/],
    // What was not offered, and a refusal, which leaves it to the model.
    [{ action: "accept", content: { "0": "7", "0.text": 7 } }, /they leave it to you/],
    [{ action: "decline" }, /they leave it to you/],
    [{ action: "cancel" }, /closed the questions/],
  ];
  await using editor = await servedEditor({
    files,
    script: answers.map(() => asks),
    capabilities: { elicitation: { form: {} } },
    fillIn: () => answers[editor.forms.length - 1]?.[0] ?? { action: "cancel" },
  });
  for (const [, wanted] of answers) {
    editor.updates.length = 0;
    await editor.prompt("ask me");
    expect(results(editor.updates)).toMatch(wanted);
  }
  expect(editor.questions).toEqual([]);
  const form = { properties: { "0": { title: "Colour", description: "Which colour?" } } };
  expect(editor.forms).toMatchObject(answers.map(() => ({ mode: "form", requestedSchema: form })));
});

test("elsewhere it is a choice, which permits nothing", async () => {
  await using editor = await servedEditor({ files, script: [asks], choose: () => "0" });
  await editor.prompt("ask me");
  expect(editor.questions).toMatchObject([
    {
      toolCall: { title: "The model asks: Which colour?", kind: "other" },
      options: [{ name: "Red" }, { name: "Blue" }, { name: "Leave it to the model", kind: "reject_once" }],
    },
  ]);
  expect(results(editor.updates)).toContain("Red");
});

test("a server that the editor names is asked about once, before the first prompt, and only a yes accepts it", async () => {
  const accepted: string[] = [];
  const waiting = ["one", "two"].map((name) => ({ name, digest: name, described: "node server.mjs\u202e" }));
  await using editor = await servedEditor({
    files,
    script: [work, work],
    mcp: { offer: async () => waiting, accept: async (_place, { name }) => void accepted.push(name) },
    choose: ({ toolCall }) => (toolCall.title?.endsWith("one") ? "accept" : undefined),
  });
  expect(editor.questions).toEqual([]);
  await editor.prompt("work");
  await editor.prompt("work on");
  expect(editor.questions.map(({ toolCall }) => toolCall.title)).toEqual([
    "Accept the MCP server one",
    "Accept the MCP server two",
  ]);
  expect(JSON.stringify(editor.questions)).toContain(String.raw`node server.mjs\\u{202e}`);
  expect(accepted).toEqual(["one"]);
});

test("while a prompt runs, a second one is refused and the first goes on", async () => {
  const answered = Promise.withResolvers<string>();
  await using editor = await servedEditor({ files, script: [asks], choose: () => answered.promise });
  const first = editor.prompt("ask me");
  await expect.poll(() => editor.questions.length).toBe(1);
  expect(String(await editor.prompt("and this").catch((error: unknown) => error))).toContain("A turn is running.");
  answered.resolve("1");
  expect(await first).toEqual({ stopReason: "end_turn" });
  expect(results(editor.updates)).toContain("Blue");
});

test.each([
  ["at once", "start", ""],
  ["in a question before the turn", "mcp", "Accept the MCP"],
  ["in a question of the turn", "asks", "The model asks"],
  ["in the question about its proposal", "proposal", "Write the proposed"],
] as const)("a prompt that is cancelled %s ends so, though the editor never answers", async (_name, kind, question) => {
  await using editor = await servedEditor({
    files,
    script: [kind === "asks" ? asks : kind === "proposal" ? proposes : work],
    choose: () => new Promise<string>(() => undefined),
    ...(kind === "mcp"
      ? { mcp: { offer: async () => [{ name: "one", digest: "", described: "" }], accept: async () => undefined } }
      : {}),
  });
  if (kind === "proposal") await editor.set("mode", "proposal");
  const prompt = editor.prompt("work");
  if (question !== "") {
    await expect.poll(() => editor.questions.at(-1)?.toolCall.title).toContain(question);
  }
  await editor.cancel();
  expect(await prompt).toEqual({ stopReason: "cancelled" });
  expect(await editor.server.workspace.read("a.txt")).toBe("one\n");
});

test("an editor that goes away in a question leaves no yes behind", async () => {
  const bash = call("Bash", { command: "curl -s http://127.0.0.1:9/ > made.txt" });
  await using editor = await servedEditor({
    files,
    steps: [bash, { text: ["Done."] }],
    choose: () => new Promise<string>(() => undefined),
  });
  const prompt = editor.prompt("fetch").catch((error: unknown) => error);
  await expect.poll(() => editor.questions.length).toBe(1);
  editor.goAway();
  expect(await prompt).toBeInstanceOf(Error);
  expect(existsSync(editor.server.workspace.path("made.txt"))).toBe(false);
});

test("an editor deletes a session, open or not, and it is not there any more", async () => {
  await using editor = await servedEditor({ files, script: [{ match: ".", steps: [{ text: ["Hello."] }] }] });
  const { agent, server, sessionId } = editor;
  const { root } = server.workspace;
  const session = methods.agent.session;
  const listed = async () => (await agent.request(session.list, { cwd: root })).sessions.map((each) => each.sessionId);
  await editor.prompt("hello");
  const another = await agent.request(session.new, { cwd: root, mcpServers: [] });
  await agent.request(session.close, { sessionId: another.sessionId });
  expect((await listed()).toSorted()).toEqual([sessionId, another.sessionId].toSorted());
  for (const each of [sessionId, another.sessionId]) await agent.request(session.delete, { sessionId: each });
  expect(await listed()).toEqual([]);
  await expect(editor.prompt("hello")).rejects.toThrow(`There is no open session ${sessionId}`);
  await expect(agent.request(session.delete, { sessionId })).rejects.toThrow();
});
