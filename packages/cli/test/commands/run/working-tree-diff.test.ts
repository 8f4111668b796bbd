import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { workingTreeDiff } from "#commands/run/working-tree-diff";

const { signal } = new AbortController();

test("shows changed and new files, and of many only the first lines", async () => {
  await using repository = await temporaryRepository({ "a.txt": "one\n" });
  const names = Array.from({ length: 40 }, (_none, number) => `new-${String(number).padStart(2, "0")}.txt`);
  await repository.write("a.txt", "two\n");
  await repository.write("new-00.txt", "new\n");
  const few = await workingTreeDiff(repository.root, ["a.txt", "new-00.txt"], { signal });
  expect(few).toContain("-one\n+two\n");
  expect(few).toMatch(/--- \/dev\/null\n\+\+\+ b\/new-00\.txt\n@@ -0,0 \+1 @@\n\+new\n$/);

  for (const name of names) await repository.write(name, `${name}\n`.repeat(20));
  const many = await workingTreeDiff(repository.root, ["a.txt", ...names], { signal });
  expect(many.split("\n")).toHaveLength(202);
  expect(many).toMatch(/\n… \d+ more lines and 32 more new files: git diff, git status\n$/);
});
