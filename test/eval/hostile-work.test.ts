import { randomUUID } from "node:crypto";
import { existsSync, rmSync, symlinkSync } from "node:fs";
import { chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { playAll } from "./play/play-all.ts";
import { playTasks } from "./play/play-tasks.ts";
import { recordedCommits } from "./recorded/recorded-commits.ts";
import { recordedWork } from "./recorded/recorded-work.ts";
import { taskIn } from "./recorded/tasks.ts";
import { Score } from "./score/score.ts";

test("starts no program that a recorded repository names", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  const { git } = repository;
  await repository.write("evil", `#!/bin/sh\ntouch ${repository.path("started")}\n`);
  await chmod(repository.path("evil"), 0o755);
  const [tree, head] = [await git("rev-parse", "HEAD^{tree}"), await git("rev-parse", "HEAD")];
  const person = "Test <test@localhost> 1700000000 +0000";
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----";
  const commit = `tree ${tree}\nparent ${head}\nauthor ${person}\ncommitter ${person}\n${signature}\n\nsigned\n`;
  await git("update-ref", "HEAD", await object(repository, "commit", Buffer.from(commit)));
  const evil = repository.path("evil");
  for (const [name, value] of [
    ["log.showSignature", "true"],
    ["gpg.program", evil],
    ["gpg.openpgp.program", evil],
    ["diff.external", evil],
    ["core.fsmonitor", evil],
    ["core.pager", evil],
  ] as const)
    await git("config", name, value);
  expect((await recordedCommits(repository.path(".git"), 10)).map(({ changes }) => changes)).toEqual([
    [{ path: "a.txt", before: undefined, after: Buffer.from("one\n") }],
  ]);
  expect(existsSync(repository.path("started"))).toBe(false);
});

test("writes nothing outside of a workspace, and nothing of git's, whatever a recorded tree names", async () => {
  const search = { type: "tool_use", id: "1", name: "Grep", input: { pattern: "one" } };
  await using repository = await temporaryRepository({
    "a.txt": "one\n",
    "calls.jsonl": `${JSON.stringify({ content: [search] })}\n`,
  });
  const { git } = repository;
  const escaped = `gennai-escaped-${randomUUID()}`;
  const started = repository.path("started");
  for (const text of ["one\n", "one, two\n"]) {
    const file = await object(repository, "blob", Buffer.from(text));
    const config = await object(
      repository,
      "blob",
      Buffer.from(`[core]\n\tfsmonitor = "touch ${started}; # ${text.trim()}"`),
    );
    const tree = await treeOf(repository, [
      ["40000", "..", await treeOf(repository, [["100644", escaped, file]])],
      ["40000", ".GIT", await treeOf(repository, [["100644", "config", config]])],
      ["40000", ".git", await treeOf(repository, [["100644", "config", config]])],
      ["100644", "a.txt", file],
    ]);
    await git("update-ref", "HEAD", await git("commit-tree", "-p", "HEAD", "-m", "hostile", tree));
  }
  try {
    const amounts = { commits: 50, calls: 10, searches: 50, tasks: 0 };
    const { scores } = await playAll(recordedWork(repository.root), amounts, () => undefined);
    expect(existsSync(join(tmpdir(), escaped))).toBe(false);
    expect(existsSync(started)).toBe(false);
    // Of the tree, what can be searched is searched.
    expect(scores.find(({ name }) => name === "searches")).toMatchObject({ total: 1, identical: 1 });
  } finally {
    rmSync(join(tmpdir(), escaped), { force: true });
  }
});

test.each([
  ["a stub above the folder", { solution: ["../secret.mjs"] }],
  ["a stub by its absolute path", { solution: ["/etc/hostname"] }],
  ["a reference solution above the folder", { example: ["../secret.mjs"] }],
  ["git's configuration", { editor: [".git/config"] }],
  ["a link that leads out", { editor: ["link.mjs"] }],
  ["what lies behind a link that leads out", { editor: ["out/secret.mjs"] }],
  ["an option as a test", { test: ["--import=a.test.mjs"] }],
])("takes no task that names %s", async (_what, named) => {
  const files = { solution: ["a.mjs"], test: ["a.test.mjs"], example: [".meta/example.mjs"] };
  const names = ["a.mjs", "a.test.mjs", ".meta/example.mjs", ".git/config", "--import=a.test.mjs", "etc/hostname"];
  await using folder = await temporaryDirectory({
    "secret.mjs": "a secret\n",
    ...Object.fromEntries(names.map((name) => [`task/${name}`, ""])),
    "task/.meta/config.json": JSON.stringify({ files }),
  });
  symlinkSync("../secret.mjs", folder.path("task/link.mjs"));
  symlinkSync("..", folder.path("task/out"));
  expect(taskIn(folder.path("task"))).toMatchObject({ tests: ["a.test.mjs"] });
  await folder.write("task/.meta/config.json", JSON.stringify({ files: { ...files, ...named } }));
  expect(taskIn(folder.path("task"))).toBeUndefined();
});

test("takes no text from outside of a task's folder by a link", async () => {
  await using folder = await temporaryDirectory({
    "secret.md": "a secret\n",
    "task/a.mjs": "",
    "task/a.test.mjs": "",
    "task/.meta/config.json": JSON.stringify({
      files: { solution: ["a.mjs"], test: ["a.test.mjs"], example: ["a.mjs"] },
    }),
    "task/.docs/introduction.md": "What to do",
  });
  symlinkSync("../../secret.md", folder.path("task/.docs/instructions.md"));
  expect(taskIn(folder.path("task"))?.instructions).toBe("What to do");
});

test("takes no repository that a link leads to", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  await using folder = await temporaryDirectory();
  symlinkSync(repository.path(".git"), folder.path(".git"));
  expect(recordedWork(folder.root).repositories).toEqual([]);
});

test("the name of a test is one word of its command", async () => {
  const name = "a'; exit 0; '.test.mjs";
  await using folder = await temporaryDirectory({
    "a.mjs": "export const a = 1;\n",
    [name]: 'import { a } from "./a.mjs";\nif (a !== 2) throw new Error("It is not 2.");\n',
    ".meta/example.mjs": "export const a = 2;\n",
    ".meta/config.json": JSON.stringify({
      files: { solution: ["a.mjs"], test: [name], example: [".meta/example.mjs"] },
    }),
  });
  const task = taskIn(folder.root);
  if (task === undefined) throw new Error("It is no task.");
  const score = new Score("tasks", { isCompared: true });
  await playTasks([task], score);
  expect(score).toMatchObject({ total: 1, identical: 1, classes: [] });
});

/** Without git's own look at names. */
async function treeOf(
  repository: TemporaryRepository,
  entries: readonly (readonly [mode: string, name: string, id: string])[],
): Promise<string> {
  const bytes = entries.map(([mode, name, id]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]),
  );
  return object(repository, "tree", Buffer.concat(bytes));
}

async function object(repository: TemporaryRepository, type: string, content: Buffer): Promise<string> {
  await repository.write(".git/new-object", content);
  return repository.git("hash-object", "-t", type, "-w", "--literally", repository.path(".git/new-object"));
}
