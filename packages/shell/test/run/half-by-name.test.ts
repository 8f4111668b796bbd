import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { useMachine } from "../use-machine.ts";

const machine = useMachine();

const git = "git -c user.name=a -c user.email=a@example.com";

/** With `f.txt`, and `\xe9.txt` at the top and in `s`, committed. */
async function withNames() {
  const repository = await temporaryRepository({ "f.txt": "f\n", "s/f.txt": "f\n" });
  const at = (name: string): Buffer => Buffer.from(join(repository.root, name), "latin1");
  for (const name of ["\xe9.txt", "s/\xe9.txt"]) writeFileSync(at(name), `${name.length}\n`);
  await repository.git("add", "-A");
  await repository.git("commit", "-qm", "names");
  return {
    ...repository,
    read: (name: string) => (existsSync(at(name)) ? readFileSync(at(name), "utf8") : undefined),
  };
}

test.each([
  ["a commit of a change", `echo 2 > $'\\xe9.txt'; ${git} commit -qam c`],
  ["a commit of a new one", `echo 2 > $'n\\xe9'; git add -A; ${git} commit -qm c`],
  ["a commit that removes one", `git rm -q $'s/\\xe9.txt'; ${git} commit -qm c`],
  ["a stash", `echo 2 > $'\\xe9.txt'; ${git} stash -q`],
  ["a branch that HEAD is on", "git switch -qc $'\\xe9'"],
  ["a new branch beside another", "git branch $'\\xe9'; git branch other"],
  ["a change in place, among others", "sed -i s/./x/ *.txt"],
  ["a file that is gone", "rm *.txt"],
  ["a directory that is gone", "rm -r s"],
  ["a directory made anew", "rm -r s; mkdir s; for i in 1 2 3 4 5 6 7 8 9 10 11; do echo $i > s/$i.txt; done"],
  ["a move from such a name", "mv $'\\xe9.txt' e.txt"],
  ["a move to such a name", "mv f.txt $'f\\xe9.txt'"],
])("nothing is kept where the rest would be half: %s", async (_name, text) => {
  await using repository = await withNames();
  const staged = await machine().run(repository.root, text, false, "s");
  await staged.drop();
  expect(staged.run).toMatchObject({ exitCode: 0 });
  expect(staged.refused).toMatch(/^the name of .*\u{fffd}.*, a part of it, is not UTF-8\. Use another name/u);
});

test.each([
  [
    "all others, beside a new one that is left out and named",
    "echo 2 > $'n\\xe9'; echo 2 > n; echo 2 > f.txt",
    ["n\u{fffd}"],
  ],
  ["a commit in their presence", `echo 2 > f.txt; git add -A; ${git} commit -qm c`, []],
  ["what goes on behind an ignored name", "mkdir s/x; echo '*' > s/x/.gitignore; echo 2 > $'s/x/\\xe9'", []],
])("kept is %s", async (_name, text, left) => {
  await using repository = await withNames();
  const staged = await machine().run(repository.root, text, false, "s");
  expect(staged).toMatchObject({ run: { exitCode: 0 }, refused: undefined });
  expect(staged.left.map((one) => one.replace(/ \(.*/, ""))).toEqual(left);
  await staged.keep(new Set());
  expect(repository.read("\xe9.txt")).toBe("5\n");
  expect(await repository.git("status", "--porcelain", "-uall")).toBe(left.length === 0 ? "" : " M f.txt\n?? n");
});

test("an index with two names that look alike is kept whole", async () => {
  await using repository = await withNames();
  await repository.write("\u{fffd}.txt", "1\n");
  await repository.git("add", "-A");
  await repository.git("commit", "-qm", "alike");
  const id = await repository.git("rev-parse", "HEAD:f.txt");
  const text = `printf '100644 ${id}\\t\\xe9.txt\\n' | git update-index --index-info`;
  const staged = await machine().run(repository.root, text, false, "s");
  expect(staged).toMatchObject({ run: { exitCode: 0 }, refused: undefined });
  await staged.keep(new Set());
  expect(await repository.git("diff", "--cached", "--name-only")).toBe('"\\351.txt"');
});
