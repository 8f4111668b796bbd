import { rmSync } from "node:fs";
import { type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import type { UsersContents } from "#found/thrown-away";
import { useMachine } from "../use-machine.ts";

const machine = useMachine();

type Prepare = (repository: TemporaryRepository) => Promise<unknown>;

const nothing: Prepare = () => Promise.resolve();
const changed: Prepare = (each) => each.write("a.txt", "mine\n");
const untracked: Prepare = (each) => each.write("notes.txt", "mine\n");
const indexed = async (each: TemporaryRepository, name = "a.txt"): Promise<void> => {
  await each.write(name, "staged\n");
  await each.git("add", name);
  await each.write(name, "more\n");
};
const commit = "git -c user.name=a -c user.email=a@example.com commit -q";

/** The paths of which policies are told that work of the user's would be gone. */
test.each<[string, Prepare, string, readonly string[]]>([
  ["git checkout", changed, "git checkout -- a.txt", ["a.txt"]],
  [
    "what was only staged",
    (each) => changed(each).then(() => each.git("add", "a.txt")),
    "git reset -q --hard",
    ["a.txt"],
  ],
  ["what the command itself staged", changed, "git add a.txt && git reset -q --hard", ["a.txt"]],
  ["a stash that is dropped", changed, "git stash -q && git stash drop -q", ["a.txt"]],
  ["what is only in the index", indexed, "git reset -q", ["a.txt"]],
  ["what is only in the index, of a file that goes from it", indexed, "git rm -qf --cached a.txt", ["a.txt"]],
  ["a new file that is only in the index", (each) => indexed(each, "n.txt"), "git rm -qf --cached n.txt", ["n.txt"]],
  ["what is staged and in the file", (each) => changed(each).then(() => each.git("add", ".")), "git reset -q", []],
  ["what is only in the index, committed", indexed, `${commit} -m x; git rm -q --cached a.txt`, []],
  ["what is only in the index, stashed", indexed, "git stash -q", []],
  ["what is only in the index, staged again with more", indexed, "git add a.txt", []],
  ["emptied", changed, "> a.txt", ["a.txt"]],
  ["a directory", untracked, "rm -rf notes.txt s", ["notes.txt"]],
  ["git clean", untracked, "git clean -qfd", ["notes.txt"]],
  ["in a repository within", nested, "cd n && git checkout -q -- b.txt", ["n/b.txt"]],
  ["a repository within", nested, "rm -rf n", ["n/b.txt"]],
  ["where git cannot say", broken, "rm n/b.txt", ["n/b.txt"]],
  ["what was committed", nothing, "git restore --source=HEAD~1 a.txt; rm -rf s", []],
  ["an edit", changed, "sed -i s/mine/yours/ a.txt; echo more >> s/b.txt", []],
  ["moved", untracked, "mv notes.txt s/notes.md", []],
  ["copied before", untracked, "cp notes.txt n.bak && rm notes.txt", []],
  ["stashed", changed, "git stash -q", []],
  ["committed", changed, `${commit} -am x && git restore --source=HEAD~1 a.txt`, []],
  ["left alone", changed, "git restore s; git clean -qfd s", []],
  ["what git ignores", (each) => each.write("x.log", "1\n"), "rm -f x.log", []],
])("%s", async (_name, prepare, text, expected) => {
  await using repository = await temporaryRepository({ ".gitignore": "*.log\n", "a.txt": "1\n", "s/b.txt": "1\n" });
  await repository.git("commit", "-qam", "2", "--allow-empty");
  await repository.write("a.txt", "2\n");
  await repository.git("commit", "-qam", "3");
  await prepare(repository);
  expect(await thrownAway(repository, text)).toEqual(expected);
});

test("what the session wrote is the session's, and what it found below is the user's", async () => {
  await using repository = await temporaryRepository({ "a.txt": "1\n", "b.txt": "1\n", "c.txt": "1\n" });
  for (const name of ["a.txt", "b.txt", "c.txt", "new.txt"]) await repository.write(name, "session\n");
  const one = "4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865";
  const contents: Readonly<Record<string, readonly string[] | undefined>> = {
    "a.txt": ["a".repeat(64), "b".repeat(64)],
    "b.txt": [one, "b".repeat(64)],
    "c.txt": ["a".repeat(64), one, "b".repeat(64)],
  };
  const thrown = await thrownAway(repository, "git checkout -q . && rm new.txt", (path) => contents[path]);
  expect(thrown).toEqual(["a.txt"]);
});

test("what the session wrote and staged is the session's, and what the user staged below is not", async () => {
  await using repository = await temporaryRepository({ "a.txt": "1\n", "b.txt": "1\n" });
  const staged = "9ac007af3de930baf647288da0c843b26a5f046a3fe1351f1bb039b242d22cdf";
  for (const name of ["a.txt", "b.txt"]) await indexed(repository, name);
  const contents: Readonly<Record<string, readonly string[]>> = {
    "a.txt": ["a".repeat(64), staged, "b".repeat(64)],
    "b.txt": [staged, "b".repeat(64)],
  };
  expect(await thrownAway(repository, "git reset -q", (path) => contents[path])).toEqual(["b.txt"]);
});

async function broken(repository: TemporaryRepository): Promise<void> {
  await repository.write("n/b.txt", "mine\n");
  await repository.write("n/.git", "gitdir: nowhere\n");
}

async function nested(repository: TemporaryRepository): Promise<void> {
  await repository.write("n/b.txt", "1\n");
  const inside = ["-C", repository.path("n"), "-c", "user.name=a", "-c", "user.email=a@example.com"];
  await repository.git(...inside, "init", "-q");
  await repository.git(...inside, "add", "b.txt");
  await repository.git(...inside, "commit", "-qm", "n");
  rmSync(repository.path("n/b.txt"));
  await repository.write("n/b.txt", "mine\n");
}

async function thrownAway(
  repository: TemporaryRepository,
  text: string,
  usersContents?: UsersContents,
): Promise<readonly string[]> {
  const staged = await machine().run(repository.root, text, false, undefined, [], undefined, usersContents);
  const { exitCode, output } = staged.run;
  await staged.drop();
  expect(exitCode, output).toBe(0);
  return staged.effects.flatMap((effect) =>
    effect.type === "write" && effect.found?.thrownAway === true ? [effect.path.relative] : [],
  );
}
