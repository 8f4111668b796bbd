import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { IgnoredPaths } from "#ignored-paths";

test("what git ignores stays as it was when it was first asked", async () => {
  await using repository = await temporaryRepository({ ".gitignore": "*.log\nout/\n" });
  const ignored = new IgnoredPaths(repository.root);
  expect([...(await ignored.among(["a.log", "a.txt", "out/", "out/b.txt"]))]).toEqual(["a.log", "out/", "out/b.txt"]);
  await repository.write(".gitignore", "*.txt\n");
  expect([...(await ignored.among(["a.txt", "a.log", "c.txt", "c.log"]))]).toEqual(["a.log", "c.txt"]);
  expect([...(await ignored.among([]))]).toEqual([]);
});
