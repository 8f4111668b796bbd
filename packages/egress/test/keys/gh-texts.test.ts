import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { withTexts } from "#keys/gh-texts";

async function workspace(...commits: readonly string[]) {
  const directory = await temporaryDirectory({ "notes.md": "One `line`\n\nand another\n", "sub/x.md": "x\n" });
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", directory.root, "-c", "user.name=Me", "-c", "user.email=me@x.example", ...args]);
  git("init", "-q", "-b", "add_a-thing");
  const commit = (message: string) => git("commit", "-q", "--allow-empty", "-m", message);
  commit("before");
  git("update-ref", "refs/remotes/origin/main", "HEAD");
  commits.forEach(commit);
  const place = { directory: directory.root, workspaceRoot: directory.root, signal: new AbortController().signal };
  const at = (words: string, more = { refs: "refs/remotes/origin/", usualBranch: "main" }) =>
    withTexts(words.split(" "), { ...place, ...more });
  return { directory, at, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
}

test.each([
  ["pr create --title T --body-file notes.md"],
  ["pr create --title T --body-file=notes.md"],
  ["pr create --title T -F notes.md"],
  ["issue create --title T -F ./sub/../notes.md"],
])("%s: with the text of the file", async (words) => {
  await using there = await workspace();
  const [noun, verb] = words.split(" ");
  expect(await there.at(words)).toEqual([noun, verb, "--title", "T", "--body", "One `line`\n\nand another"]);
});

test("the texts of commits, as gh takes them", async () => {
  await using one = await workspace("Add a thing\n\nIt is needed.\n");
  expect(await one.at("pr create --fill --draft")).toEqual([
    ...["pr", "create", "--draft", "--title", "Add a thing", "--body", "It is needed."],
  ]);
  expect(await one.at("pr create -f -B main --title T")).toEqual([
    ...["pr", "create", "-B", "main", "--title", "T", "--body", "It is needed."],
  ]);
  await using two = await workspace("First\n\nbody\n", "Second");
  expect(await two.at("pr create --fill")).toEqual([
    ...["pr", "create", "--title", "add a thing", "--body", "- First\n- Second"],
  ]);
});

test.each([
  ["pr create -F -"],
  ["pr create -F missing.md"],
  ["pr create -F /etc/hostname"],
  ["pr create -F outside.md"],
  ["pr create -F .env"],
  ["pr create -F to-secrets.md"],
  ["pr create --fill -B other"],
])("%s: it is not known before", async (words) => {
  await using there = await workspace("Add a thing");
  symlinkSync("/etc/hostname", there.directory.path("outside.md"));
  writeFileSync(there.directory.path(".env"), "KEY=x\n");
  symlinkSync(".env", there.directory.path("to-secrets.md"));
  expect(await there.at(words)).toBeUndefined();
});

test("other calls stay as they are", async () => {
  await using there = await workspace();
  for (const words of ["api x -F body=@notes.md", "workflow run ci.yml -F a=b", "pr list"])
    expect(await there.at(words)).toEqual(words.split(" "));
});
