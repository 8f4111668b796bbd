import { rmSync } from "node:fs";
import { machineGit } from "@gennai/git/run/machine-git";
import { startGit } from "@gennai/git/run/start-git";
import { type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { IgnoreRules } from "#checkpoints/ignore-rules";

vi.mock("@gennai/git/run/start-git", { spy: true });

/** What a repository is like, the directory that is asked about, and whether git must be started to know where its rules are. */
type Case = readonly [
  name: string,
  prepare: (repository: TemporaryRepository) => string | Promise<string>,
  patterns: string,
  asksGit: boolean,
];

const cases: readonly Case[] = [
  ["a plain repository", ({ root }) => root, "private/\n", false],
  ["a directory below its top", (repository) => repository.path("d"), "*.above\n", true],
  [
    "a linked working tree, which shares the private rules",
    async (repository) => {
      await repository.git("worktree", "add", "--quiet", repository.path("linked"));
      return repository.path("linked");
    },
    "private/\n",
    true,
  ],
  [
    "a repository with an extension",
    async (repository) => {
      await repository.git("config", "core.repositoryformatversion", "1");
      await repository.git("config", "extensions.worktreeConfig", "true");
      return repository.root;
    },
    "private/\n",
    true,
  ],
  [
    "a repository of a version that git does not know",
    async (repository) => {
      await repository.git("config", "core.repositoryformatversion", "7");
      return repository.root;
    },
    "",
    true,
  ],
  [
    "a repository without objects, which git refuses",
    (repository) => {
      rmSync(repository.path(".git/objects"), { recursive: true });
      return repository.root;
    },
    "",
    true,
  ],
  [
    "a repository whose HEAD git refuses",
    async (repository) => {
      await repository.write(".git/HEAD", "nothing");
      return repository.root;
    },
    "",
    true,
  ],
];

test.each(cases)("the rules of %s are found as git finds them", async (_name, prepare, patterns, asksGit) => {
  await machineGit();
  await using repository = await temporaryRepository({ ".gitignore": "*.above\n", "d/a.txt": "a\n" });
  await repository.write(".git/info/exclude", "private/\n");
  const root = await prepare(repository);
  vi.mocked(startGit).mockClear();
  expect(await new IgnoreRules(root).patterns()).toBe(patterns);
  expect(vi.mocked(startGit).mock.calls.length > 0).toBe(asksGit);
});
