import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { EditingMode } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ConfirmationAnswer } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { eventsOf, startSession, Watcher } from "../session-client.ts";

const writing = [
  call("Read", { file_path: "README.md" }),
  call("Write", { file_path: "new.txt", content: "new\n" }),
  { text: ["Over."] },
];

const commit = "git -c user.name=a -c user.email=a@example.com commit -qm new";

test.each([
  ["yes", ConfirmationAnswer.YES, "ai-agent/make-it", "new\n"],
  ["no", ConfirmationAnswer.NO, "main", undefined],
] as const)("the first write asks about a branch; %s", async (_name, answer, branch, content) => {
  await using server = await startTestServer({ steps: writing });
  const { client, workspace } = server;
  const sessionId = await startSession(server, { interactive: true });
  await workspace.git("switch", "--quiet", "main");
  await using editor = await Watcher.attach(server, sessionId);
  const { turnId } = await client.startTurn({ sessionId, userInput: "Make it", clientTurnId: "one" });
  const question = await editor.next("confirmationRequest");
  expect(question.computed?.reason).toContain("A yes begins the branch ai-agent/make-it");
  expect(await workspace.git("branch", "--show-current")).toBe("main");
  await editor.answer(question, { answer });
  await editor.end(turnId);
  expect(await workspace.git("branch", "--show-current")).toBe(branch);
  expect(await workspace.read("new.txt").catch(() => undefined)).toBe(content);
  const made = answer === ConfirmationAnswer.YES ? [{ branch, created: true, before: "main" }] : [];
  expect(eventsOf(editor.events, "branchChanged")).toMatchObject(made);
});

test("a no is remembered: the session only looks, until the user chooses a mode", async () => {
  await using server = await startTestServer({
    steps: [
      call("Write", { file_path: "a.txt", content: "a" }),
      call("Write", { file_path: "b.txt", content: "b" }),
      { text: ["Over."] },
    ],
  });
  const { client, workspace } = server;
  const sessionId = await startSession(server, { interactive: true });
  await workspace.git("switch", "--quiet", "main");
  await using editor = await Watcher.attach(server, sessionId);
  const run = async (clientTurnId: string) => client.startTurn({ sessionId, userInput: "go", clientTurnId });
  const first = await run("one");
  await editor.answer(await editor.next("confirmationRequest"), { answer: ConfirmationAnswer.NO });
  await editor.end(first.turnId);
  await editor.end((await run("two")).turnId);
  expect(eventsOf(editor.events, "confirmationRequest")).toHaveLength(1);
  await client.setSettings({ sessionId, settings: { editingMode: EditingMode.BRANCH } });
  const third = await run("three");
  await editor.answer(await editor.next("confirmationRequest", 1), { answer: ConfirmationAnswer.YES });
  await editor.end(third.turnId);
  expect(await workspace.read("b.txt")).toBe("b");
  expect(eventsOf(editor.events, "gateDecision").map(({ reason }) => reason)).toContain(
    "The user only wants to look in this session: nothing is written.",
  );
});

test("where there is no repository, reading asks nothing, and a yes to the first write makes one", async () => {
  await using server = await startTestServer({ steps: writing, files: { "README.md": "# Hi\n", ".env": "TOKEN=1\n" } });
  const { client, workspace } = server;
  await rm(workspace.path(".git"), { recursive: true });
  const sessionId = await startSession(server, { interactive: true });
  await using editor = await Watcher.attach(server, sessionId);
  const { turnId } = await client.startTurn({ sessionId, userInput: "Make it", clientTurnId: "one" });
  const question = await editor.next("confirmationRequest");
  expect(question.actionStatement).toBe("Create new.txt");
  expect(question.computed?.reason).toContain("A yes runs git init");
  expect(existsSync(workspace.path(".git"))).toBe(false);
  await editor.answer(question, { answer: ConfirmationAnswer.YES });
  await editor.end(turnId);
  expect(await workspace.read("new.txt")).toBe("new\n");
  expect(await workspace.git("branch", "--show-current")).toBe("ai-agent/make-it");
  expect(await workspace.git("ls-tree", "-r", "--name-only", "main")).toContain("README.md");
  expect(await workspace.git("ls-tree", "-r", "--name-only", "main")).not.toContain(".env");
  expect(await workspace.git("log", "--format=%s")).toBe("First commit");
});

test("one that was agreed to ahead begins without a question, and not where a call is refused", async () => {
  const refused = call("Write", { file_path: "../outside.txt", content: "x\n" });
  await using server = await startTestServer({
    script: [
      { match: "refused", steps: [refused, { text: ["Over."] }] },
      { match: "written", steps: writing },
    ],
  });
  const { client, workspace } = server;
  const sessionId = await startSession(server);
  await workspace.git("switch", "--quiet", "main");
  await using editor = await Watcher.attach(server, sessionId);
  const run = async (userInput: string) => {
    const started = await client.startTurn({ sessionId, userInput, clientTurnId: userInput, branchTask: "mend it" });
    await editor.end(started.turnId);
    return workspace.git("branch", "--show-current");
  };
  expect(await run("refused")).toBe("main");
  expect(await run("written")).toBe("ai-agent/mend-it");
  expect(await workspace.read("new.txt")).toBe("new\n");
});

test("what cannot begin is told, and nothing is written", async () => {
  await using server = await startTestServer({ steps: writing });
  const { client, workspace } = server;
  const sessionId = await startSession(server);
  await workspace.git("switch", "--quiet", "main");
  await using editor = await Watcher.attach(server, sessionId);
  const names = (await workspace.git("branch", "--format=%(refname:short)")).split("\n");
  for (const name of names.filter((each) => each.startsWith("ai-agent/"))) await workspace.git("branch", "-D", name);
  await workspace.git("branch", "ai-agent");
  const { turnId } = await client.startTurn({ sessionId, userInput: "go", clientTurnId: "one", branchTask: "x" });
  await editor.end(turnId);
  expect(eventsOf(editor.events, "toolResult").at(-1)?.error).toContain("git could not create ai-agent/x");
  expect(await workspace.read("new.txt").catch(() => undefined)).toBeUndefined();
  expect(await workspace.git("branch", "--show-current")).toBe("main");
});

test.each([
  ["what a staged command wrote", "printf new > new.txt", "?? new.txt"],
  ["a commit of one", `printf new > new.txt && git add new.txt && ${commit}`, ""],
])("%s lands on the branch that then begins; main stays", async (_name, command, status) => {
  await using server = await startTestServer({
    steps: [bash(command), { text: ["Over."] }],
    server: { commands: "staged" },
  });
  const { client, workspace } = server;
  const sessionId = await startSession(server);
  await workspace.git("switch", "--quiet", "main");
  const main = await workspace.git("rev-parse", "main");
  await using editor = await Watcher.attach(server, sessionId);
  const { turnId } = await client.startTurn({ sessionId, userInput: "go", clientTurnId: "one", branchTask: "mend it" });
  await editor.end(turnId);
  expect(eventsOf(editor.events, "toolResult").at(-1)).toMatchObject({ error: "" });
  expect(await workspace.git("branch", "--show-current")).toBe("ai-agent/mend-it");
  expect(await workspace.read("new.txt")).toBe("new");
  expect(await workspace.git("status", "--porcelain", "new.txt")).toBe(status);
  expect(await workspace.git("rev-parse", "main")).toBe(main);
});
