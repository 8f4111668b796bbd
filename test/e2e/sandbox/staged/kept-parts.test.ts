import { existsSync, mkdirSync } from "node:fs";
import { listCheckpoints, restoreCheckpoint } from "@gennai/client/session/checkpoints";
import { droppedForRest } from "@gennai/protocol/model/governance/offered-parts";
import { expect, test } from "vitest";
import { startSession, Watcher } from "../../rpc/session-client.ts";
import { leftovers, program, result, staging } from "./staging.ts";

test("a yes to what would be kept makes exactly that true, and a restore takes it back", async () => {
  await using server = await staging(
    ["node do.mjs"],
    program(`fs.writeFileSync("AGENTS.md", "be kind"); fs.writeFileSync("made.txt", "1");`),
  );
  mkdirSync(server.workspace.path("empty"));
  await using editor = await Watcher.begin(server);
  const { sessionId } = editor;
  const question = await editor.next("confirmationRequest");
  expect(question.actionStatement).toMatch(/^Keep what `node do\.mjs` changed: AGENTS\.md, made\.txt$/);
  expect(question.diff).toContain("--- /dev/null\n+++ b/AGENTS.md\n@@ -0,0 +1,1 @@\n+be kind\n");
  expect(existsSync(server.workspace.path("made.txt"))).toBe(false);
  await editor.answer(question);
  expect(await editor.end()).toBe("COMPLETED");
  expect(await server.workspace.read("AGENTS.md")).toBe("be kind");

  const { signal } = new AbortController();
  const [checkpoint] = (await listCheckpoints(server.client, sessionId, { signal })).checkpoints;
  await restoreCheckpoint(server.client, { sessionId, checkpointId: checkpoint?.checkpointId ?? "" }, { signal });
  expect(["AGENTS.md", "made.txt"].filter((path) => existsSync(server.workspace.path(path)))).toEqual([]);
  await server.running[Symbol.asyncDispose]();
  const ledger = await server.workspace.read(".orchestration/agent_trace.jsonl");
  expect(ledger).toMatch(/AGENTS\.md/);
});

test("what a person saves while they are asked stays, and an undo takes back only what the command did", async () => {
  const before = "1\n2\n3\n4\n5\n";
  await using server = await staging(
    ["node do.mjs"],
    program(`fs.writeFileSync("AGENTS.md", "be kind"); fs.writeFileSync("made.txt", "agent\\n2\\n3\\n4\\n5\\n");`),
  );
  await server.workspace.write("made.txt", before);
  await using editor = await Watcher.begin(server);
  const question = await editor.next("confirmationRequest");
  await server.workspace.write("made.txt", `${before}mine\n`);
  await editor.answer(question);
  expect(await editor.end()).toBe("COMPLETED");
  expect(await server.workspace.read("made.txt")).toBe("agent\n2\n3\n4\n5\nmine\n");
  await server.restart();
  await server.client.undoChangeSet({ sessionId: editor.sessionId });
  expect(await server.workspace.read("made.txt")).toBe(`${before}mine\n`);
  expect(existsSync(server.workspace.path("AGENTS.md"))).toBe(false);
  expect(leftovers(server)).toEqual([]);
});

test("a person keeps the rest: exactly that is kept, the record says who chose, and the model what was dropped", async () => {
  await using server = await staging(
    ["node do.mjs && git add made.txt AGENTS.md", "cat made.txt; ls"],
    program(`fs.writeFileSync("AGENTS.md", "be kind"); fs.writeFileSync("made.txt", "1");`),
  );
  await using editor = await Watcher.begin(server);
  const question = await editor.next("confirmationRequest");
  const { parts } = question;
  expect(parts.filter(({ rule }) => rule !== "").map(({ name }) => name)).toEqual(["AGENTS.md"]);
  expect(parts.map(({ name }) => name).toSorted()).toEqual([".git", "AGENTS.md", "made.txt"]);
  const droppedParts = droppedForRest(
    parts.map(({ id, name, rule, reason, needs }) => ({ id, name, rule, reason, needs })),
  );
  await editor.answer(question, { droppedParts: [...(droppedParts ?? [])] });
  const { output } = await editor.next("toolResult");
  expect(output).toContain("[not kept, without a yes of the user's: .git, AGENTS.md; the rest is kept.");
  expect(await editor.end()).toBe("COMPLETED");
  expect(await server.workspace.read("made.txt")).toBe("1");
  expect(existsSync(server.workspace.path("AGENTS.md"))).toBe(false);
  expect(await server.workspace.git("status", "--porcelain")).toContain("?? made.txt");
  expect(leftovers(server)).toEqual([]);
  await server.running[Symbol.asyncDispose]();
  const ledger = await server.workspace.read(".orchestration/agent_trace.jsonl");
  expect(ledger).toMatch(/"confirmation":\{[^}]*"dropped":\[".git","AGENTS.md"\]/);
  expect(ledger).toContain("made.txt");
});

test("what cannot work is said, with the way round", async () => {
  const fetching = `await fetch("https://example.com").catch((error) => { throw error.cause; });`;
  await using server = await staging(
    [
      "node do.mjs",
      "node fetch.mjs",
      "git worktree add -q /opt/beside",
      "mv old new && git add -A old new && git status --short",
    ],
    { "old/a.txt": "a", "fetch.mjs": fetching, ...program(`fs.renameSync("old", "new");`) },
  );
  const sessionId = await startSession(server);
  expect((await result(server, sessionId)).output).toContain("[a program cannot rename a directory");
  expect((await result(server, sessionId)).output).toContain(
    "[no way to the network: This connection needs a person's yes and nobody can be asked",
  );
  const beside = (await result(server, sessionId)).output;
  expect(beside).toContain("[a work tree outside of the workspace cannot be kept");
  expect(beside).not.toContain("person");
  expect((await result(server, sessionId)).output).toContain("R  old/a.txt -> new/a.txt");
});

test("a clone of a directory cannot share its files: that is said, and the way round works", async () => {
  const commands = [
    "git clone --quiet . copy",
    "git clone --quiet --no-hardlinks . copy && git -C copy log --format=%s",
  ];
  await using server = await staging(commands, { ".gitignore": "copy\n" });
  const sessionId = await startSession(server);
  const { output } = await result(server, sessionId);
  expect(output).toContain("hardlink different from source");
  expect(output).toContain("use `git clone --no-hardlinks`]");
  expect((await result(server, sessionId)).output).toMatch(/^first\n\[exit code 0\]/);
});
