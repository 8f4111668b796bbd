import { chmod, readFile, unlink } from "node:fs/promises";
import { type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { type AgentFile, commitAgents, stageAgents, type WorkTree } from "../../src/git/agents-index.ts";
import { gitProgram } from "../../src/git/git-program.ts";

const head = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const agents = head.replace("2", "two");
const both = agents.replace("8", "mine");

async function scene() {
  const repository = await temporaryRepository({ "a.txt": head, "gone.txt": head, "dir/crlf.txt": head });
  await repository.git("config", "user.name", "a");
  await repository.git("config", "user.email", "a@example.com");
  const tree: WorkTree = {
    git: gitProgram("git", repository.root),
    read: (path) => readFile(repository.path(path)).catch(() => undefined),
  };
  /** What git would commit, and what is only in the files. */
  const differences = async (repositoryOf: TemporaryRepository) => ({
    staged: changed(await repositoryOf.git("diff", "--cached", "-U0")),
    files: changed(await repositoryOf.git("diff", "-U0")),
  });
  return { repository, tree, differences: () => differences(repository) };
}

/** The changed lines of a diff. */
function changed(diff: string): readonly string[] {
  return diff.split("\n").filter((line) => /^[-+](?![-+]{2})/.test(line));
}

const file = (path: string, before: string | undefined, after: string | undefined): AgentFile => ({
  path,
  steps: [{ before, after }],
});

test("exactly the agent's lines are staged, beside what the user staged, in the same file and in others", async () => {
  const { repository, tree, differences } = await scene();
  await using _repository = repository;
  await repository.write("a.txt", head.replace("5", "staged"));
  await repository.write("users.txt", "mine\n");
  await repository.git("add", "a.txt", "users.txt");
  await repository.write("a.txt", both.replace("5", "staged"));
  await repository.write("new/b.txt", "b\nmine\n");
  await unlink(repository.path("gone.txt"));
  const staged = await stageAgents(tree, [
    file("a.txt", head, agents),
    file("new/b.txt", undefined, "b\n"),
    file("gone.txt", head, undefined),
  ]);
  expect(staged).toEqual({ files: ["a.txt", "new/b.txt", "gone.txt"], left: [] });
  expect((await differences()).files).toEqual(["-8", "+mine", "+mine"]);
  expect(await repository.git("show", ":a.txt")).toBe(agents.replace("5", "staged").trimEnd());
  expect(await repository.git("show", ":users.txt")).toBe("mine");
  expect(await repository.git("ls-files", "gone.txt")).toBe("");
  expect(await repository.read("a.txt")).toBe(both.replace("5", "staged"));
  // Nothing is left to be staged.
  expect(await stageAgents(tree, [file("a.txt", head, agents)])).toEqual({ files: [], left: [] });
});

test("a commit has exactly the agent's lines, and the user's stay staged or in the file as they were", async () => {
  const { repository, tree, differences } = await scene();
  await using _repository = repository;
  await repository.write("a.txt", head.replace("5", "staged"));
  await repository.git("add", "a.txt");
  await repository.write("a.txt", both.replace("5", "staged"));
  expect(await commitAgents(tree, [file("a.txt", head, agents)], "The agent's\n")).toEqual({
    files: ["a.txt"],
    left: [],
  });
  expect(changed(await repository.git("show", "-U0", "--format=%s"))).toEqual(["-2", "+two"]);
  expect(await differences()).toEqual({ staged: ["-5", "+staged"], files: ["-8", "+mine"] });
  expect(await repository.git("log", "-1", "--format=%s")).toBe("The agent's");
});

test("a hook that refuses the commit leaves the index and the files as they were", async () => {
  const { repository, tree, differences } = await scene();
  await using _repository = repository;
  await repository.write("a.txt", both);
  await repository.write("new.txt", "new\n");
  await repository.write(".git/hooks/pre-commit", "#!/bin/sh\necho no such thing >&2\nexit 1\n");
  await chmod(repository.path(".git/hooks/pre-commit"), 0o755);
  const files = [file("a.txt", head, agents), file("new.txt", undefined, "new\n")];
  await expect(commitAgents(tree, files, "x")).rejects.toThrow("no such thing");
  expect(await differences()).toEqual({ staged: [], files: ["-2", "+two", "-8", "+mine"] });
  expect(await repository.git("status", "--porcelain")).toBe(" M a.txt\n?? new.txt");
  expect(await repository.git("log", "--format=%s")).not.toContain("x");
});

test("files as they are in the working tree are cleaned as git would, and modes stay", async () => {
  const { repository, tree } = await scene();
  await using _repository = repository;
  await repository.write(".gitattributes", "dir/* text eol=crlf\n");
  await chmod(repository.path("dir/crlf.txt"), 0o755);
  await repository.git("add", "-A");
  await repository.git("commit", "-qm", "attributes");
  const windows = (text: string) => text.replaceAll("\n", "\r\n");
  await repository.write("dir/crlf.txt", windows(both));
  await stageAgents(tree, [file("dir/crlf.txt", windows(head), windows(agents))]);
  const [, blob = ""] = /^100755 ([0-9a-f]+) 0/.exec(await repository.git("ls-files", "-s", "dir/crlf.txt")) ?? [];
  expect(await repository.git("cat-file", "blob", blob)).toBe(agents.trimEnd());
});

test.each<[string, (repository: TemporaryRepository) => Promise<unknown>]>([
  ["both wrote at one place", (repository) => repository.write("a.txt", head.replace("2\n", "2\nagent\nmine\n"))],
  ["it is no text", (repository) => repository.write("a.txt", Buffer.from([0, 1]))],
])("a file is left alone and named where %s", async (_why, change) => {
  const { repository, tree } = await scene();
  await using _repository = repository;
  await change(repository);
  const files = [file("a.txt", head, head.replace("2\n", "2\nagent\n"))];
  expect(await stageAgents(tree, files)).toEqual({ files: [], left: ["a.txt"] });
  expect(await commitAgents(tree, files, "x")).toEqual({ files: [], left: ["a.txt"] });
  expect(await repository.git("status", "--porcelain")).toBe(" M a.txt");
});

test("a repository without a commit, and one with a merge under way", async () => {
  const { repository, tree } = await scene();
  await using _repository = repository;
  await repository.git("checkout", "-q", "--orphan", "empty");
  await repository.git("rm", "-rq", "--cached", ".");
  await repository.write("new.txt", "new\n");
  await commitAgents(tree, [file("new.txt", undefined, "new\n")], "first");
  expect(await repository.git("ls-tree", "--name-only", "HEAD")).toBe("new.txt");
  await repository.git("update-ref", "MERGE_HEAD", "main");
  await expect(commitAgents(tree, [], "x")).rejects.toThrow("under way");
});
