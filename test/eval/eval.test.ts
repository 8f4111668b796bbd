import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { askModel } from "./play/ask-model.ts";
import { sentSession } from "./play/long-session.ts";
import { playAll, shortfalls } from "./play/play-all.ts";
import { playSearches, recordedSearches } from "./play/play-searches.ts";
import { playTasks } from "./play/play-tasks.ts";
import { recordedWork } from "./recorded/recorded-work.ts";
import { taskIn } from "./recorded/tasks.ts";
import { anthropicCache, openAiCache } from "./score/provider-cache.ts";
import { Score } from "./score/score.ts";
import { scoreTable } from "./score/score-table.ts";

const samples = fileURLToPath(new URL("samples", import.meta.url));
const amounts = { commits: 50, calls: 1_000, searches: 50, tasks: 1 };

test("makes commits again byte for byte, and says what rules ask about", async () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index % 7}`);
  await using repository = await temporaryRepository({
    "same.txt": `${lines.join("\n")}\n`,
    "windows.txt": "one\r\ntwo\r\nthree\r\n",
    "mark.txt": "\uFEFFone\ntwo\n",
    "gone.txt": "gone\n",
    "end.txt": "no line end",
  });
  const { git } = repository;
  const commit = async (files: Readonly<Record<string, string | Uint8Array>>): Promise<void> => {
    for (const [path, content] of Object.entries(files)) await repository.write(path, content);
    await git("add", "--all");
    await git("commit", "--quiet", "--message", "next");
  };
  await commit({
    // Three places, in lines that occur many times.
    "same.txt": `${lines.with(3, "third").with(20, "").with(39, "last").join("\n")}\n`,
    "windows.txt": "one\r\nzwei\r\nthree\r\n",
    "mark.txt": "\uFEFFone\nzwei\n",
  });
  await commit({ "end.txt": "a line end\n", "new/file.txt": "new", "windows.txt": "one\nzwei\nthree\n" });
  await git("rm", "--quiet", "gone.txt");
  await commit({ "same.txt": lines.toReversed().join("\n"), "picture.bin": new Uint8Array([0, 1, 2]) });
  await commit({ "package.json": '{"scripts":{"postinstall":"echo"}}\n' });
  const { scores } = await playAll(recordedWork(repository.root), amounts, () => undefined);
  const [edits, files] = scores;
  expect([files?.identical, files?.total]).toEqual([12, 13]);
  expect(files?.of("asked")).toBe(1);
  expect(edits?.of("failed")).toBe(0);
  expect(files?.classes).toMatchObject([
    { why: "left out: binary, or other line ends alone", count: 2 },
    { why: "control-files/sensitive", example: expect.stringMatching(/ package.json$/) },
  ]);
  expect(shortfalls(scores)).toEqual([]);
});

test("reports recorded calls which fit, which were put into our words, and what rules say", async () => {
  const { scores, otherTools } = await playAll(recordedWork(`${samples}/calls`), amounts, () => undefined);
  const [schemas, commands] = scores;
  expect(schemas?.classes).toEqual([]);
  expect(commands?.classes).toMatchObject([{ why: "floor/git-loss", count: 1 }]);
  expect([...otherTools]).toEqual([["LookIntoTheFuture", 1]]);
  const guide = await readFile(new URL("../../docs/guides/play-recorded-work.md", import.meta.url), "utf8");
  expect(guide).toContain(scoreTable(scores));
});

test("finds what does not fit, and then says no", async () => {
  const call = (name: string, input: object) => ({ type: "tool_use", id: "1", name, input });
  await using folder = await temporaryDirectory({
    "one.jsonl": `${JSON.stringify({ content: [call("Read", { lines: 3 }), call("Glob", { pattern: "*" })] })}\nno JSON\n`,
  });
  const { scores } = await playAll(recordedWork(folder.root), amounts, () => undefined);
  expect(scores[0]).toMatchObject({ total: 2, fitting: 0.5 });
  expect(scores[0]?.classes[0]?.why).toMatch(/^Read: .*lines/);
  expect(shortfalls(scores)).toEqual(["calls: 50.0 % fit, at least 98 % should."]);
});

test("finds by Grep the files that JavaScript finds", async () => {
  const ours = (input: Readonly<Record<string, unknown>>) => ({
    tool: "Grep",
    input,
    from: "",
    cwd: "",
    ours: { tool: "Grep", input },
  });
  const searches = recordedSearches([
    ours({ pattern: "t[wh]o\\b" }),
    ours({ pattern: "TWO", "-i": true, glob: "*.md" }),
    ours({ pattern: "(?i)two" }),
    ours({ pattern: "nowhere" }),
  ]);
  expect(searches).toHaveLength(3);
  const tree = new Map(
    Object.entries({ "a.txt": "one\ntwo\n", "b/c.md": "Two\n", "d.txt": "twofold\n" }).map(([path, text]) => [
      path,
      Buffer.from(text),
    ]),
  );
  const score = new Score("searches", { isCompared: true });
  await playSearches(tree, searches, score);
  expect(score).toMatchObject({ total: 3, identical: 3, classes: [] });
  // One that Grep cannot see, because git ignores it.
  const other = new Score("searches", { isCompared: true });
  await playSearches(
    new Map([...tree, [".gitignore", Buffer.from("d.txt\n")]]),
    recordedSearches([ours({ pattern: "two" })]),
    other,
  );
  expect(other.identical).toBe(0);
  expect(shortfalls([other])).toEqual(["searches: 1 are not as recorded."]);
});

test("a task counts only when its tests fail before and pass after", async () => {
  const task = taskIn(`${samples}/tasks/price-list`);
  if (task === undefined) throw new Error("The sample is gone.");
  const score = new Score("tasks", { isCompared: true });
  const wrong = { ...task, solution: { "price-list.mjs": "export function totals() {}\n" } };
  await playTasks([task, { ...task, files: { ...task.files, ...task.solution } }, wrong], score);
  expect(score).toMatchObject({ total: 3, identical: 1 });
  expect(score.classes.map(({ why }) => why)).toEqual([
    "its tests pass without a solution",
    "its tests fail with the reference solution",
  ]);
});

test("asks a model by its address, and its work is tested apart", async () => {
  const task = taskIn(`${samples}/tasks/word-lengths`);
  if (task === undefined) throw new Error("The sample is gone.");
  const [[file_path, content] = ["", ""]] = Object.entries(task.solution);
  const [test = ""] = task.tests;
  const write = (id: string, path: string, text: string) => ({
    id,
    name: "Write",
    arguments: { file_path: path, content: text },
  });
  const read = {
    calls: [
      { id: "1", name: "Read", arguments: { path: file_path } },
      { id: "2", name: "Read", arguments: { path: test } },
    ],
  };
  await using able = await startModelServer(modelWires["openai-compatible"], (count) =>
    count === 1 ? read : count === 2 ? { calls: [write("3", file_path, content)] } : { text: ["Done."] },
  );
  // It changes the tests, which are put back.
  await using sly = await startModelServer(modelWires["openai-compatible"], (count) =>
    count === 1 ? read : count === 2 ? { calls: [write("3", test, "\n")] } : { text: ["All tests pass."] },
  );
  const solved = await askModel(task, { url: able.baseUrl, name: "able", key: "k" });
  expect(solved).toMatchObject({ isSolved: true, end: "COMPLETED", modelCalls: 3, toolCalls: 3, asked: 0, failed: 0 });
  expect(solved.inputTokens).toBeGreaterThan(0);
  expect(JSON.stringify(able.requests[0]?.body)).toContain("Count how many words of each length");
  expect(await askModel(task, { url: sly.baseUrl, name: "sly", key: "k" })).toMatchObject({ isSolved: false });
});

test("a long session finds nearly all of what it sends in its provider's cache", async () => {
  const session = await sentSession("anthropic", 35);
  // The last answer of each turn is a request without a call.
  expect(session).toMatchObject({ requests: 37, compactions: 0 });
  expect(session.cached / session.sent).toBeGreaterThan(0.9);
  expect(session.cached).toBeLessThanOrEqual(session.atMost);
  // What goes along with each request.
  expect(session.tools + session.system).toBeLessThan(5_000);
});

test("a cache serves what is marked, or the beginning in steps", () => {
  const block = (text: string, isMarked = false) => ({ part: "said" as const, text, isMarked });
  const [long, other] = ["a".repeat(8_000), "b".repeat(8_000)];
  const anthropic = anthropicCache();
  expect([
    anthropic([block(long, true)]),
    anthropic([block(long), block(other)]),
    anthropic([block(long), block("c", true)]),
    anthropic([block(other), block(long, true)]),
  ]).toEqual([0, 0, 2_000, 0]);
  const openAi = openAiCache();
  expect([openAi([block(long)]), openAi([block(long), block(other)]), openAi([block("short")])]).toEqual([0, 1_920, 0]);
});
