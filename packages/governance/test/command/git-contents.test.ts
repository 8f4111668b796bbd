import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { analyseCommand } from "#command/analyse-command";
import type { GitContents } from "#command-analysis";

const analyse = (command: string, cwd = "/ws") => analyseCommand(command, { cwd, home: "/home/dev", workspace: "/ws" });

const contentsOf = (command: string, cwd?: string): readonly GitContents[] => analyse(command, cwd).contents;

test.each([
  ...["git status", "git status --porcelain", "git log", "git log --oneline -20", "git log --graph --all --decorate"],
  ...["git log --stat", "git log --name-only -S needle", "git diff --stat", "git diff --name-only HEAD~3"],
  ...["git diff --name-status main...HEAD", "git show --stat HEAD", "git show -s HEAD", "git stash list"],
  ...["git stash show --stat", "git reflog", "git diff-tree -r HEAD", "git grep -l needle"],
  ...["git grep --count needle", "git cat-file -t HEAD", "git ls-files", "git ls-tree -r HEAD", "git rev-parse HEAD"],
  ...["git branch -a", "git commit -m 'git show HEAD:.env'", "git add -A", "git checkout main", "echo git diff"],
])("git commands that print no contents: %s", (command) => {
  expect(contentsOf(command)).toEqual([]);
});

describe("git commands that may print contents", () => {
  test.each<[string, readonly string[] | undefined | "unknown", readonly string[]]>([
    ["git diff", ["diff"], []],
    ["git diff HEAD~3 -- src", ["diff", "HEAD~3", "--", "src"], ["HEAD~3"]],
    ["git diff --word-diff=color --color=always", ["diff"], []],
    ["git diff --stat -p", ["diff", "--stat", "-p"], []],
    ["git diff --no-index a b", ["diff", "--no-index", "a", "b"], ["a", "b"]],
    ["git --no-pager log -p -5", ["log", "-p", "-5"], []],
    ["git log --oneline --graph -p", ["log", "-p"], []],
    ["git log -U10 -- src", ["log", "-U10", "--", "src"], []],
    ["git log --format=%H -u", ["log", "-u"], []],
    ["git show", ["show"], []],
    ["git show HEAD:a.ts", ["show", "HEAD:a.ts"], ["HEAD:a.ts"]],
    ["git stash show -p", ["stash", "show", "-p"], []],
    ["git stash show -p stash@{1}", ["stash", "show", "-p", "stash@{1}"], []],
    ["git stash list -p", ["stash", "list", "-p"], []],
    ["git reflog -p", ["reflog", "show", "-p"], []],
    ["git diff-tree -p HEAD", ["diff-tree", "-p", "HEAD"], ["HEAD"]],
    ["git diff-index -p HEAD", ["diff-index", "-p", "HEAD"], []],
    ["git grep needle", ["grep", "needle"], []],
    ["git grep -n needle HEAD -- src", ["grep", "-n", "needle", "HEAD", "--", "src"], []],
    ["git grep --untracked needle", ["grep", "--untracked", "needle"], []],
    ["git status -v", ["diff", "HEAD"], []],
    ["git cat-file -p abc123", undefined, ["abc123"]],
    ["git cat-file blob abc123", undefined, ["blob", "abc123"]],
    ["git diff -M90% -C --find-renames=5", ["diff"], []],
    ["git diff -pM", "unknown", []],
    // Which of the two wins is not the same in all versions.
    ["git diff -s -p", "unknown", []],
    ["git log -p --an-option-of-tomorrow", "unknown", []],
    ["git show $REF", "unknown", []],
    ["git diff $(git merge-base main HEAD)", "unknown", []],
    ["git cat-file --batch", "unknown", []],
    ["git range-diff main...HEAD", "unknown", []],
    ["git archive HEAD", "unknown", []],
    ["git format-patch -1 --stdout", "unknown", []],
    ["git fast-export --all", "unknown", []],
    ["git add -p", "unknown", []],
    ["git commit -v", "unknown", []],
    ["git rebase --show-current-patch", "unknown", []],
    ["echo HEAD | xargs git show", "unknown", []],
  ])("%s", (command, names, objects) => {
    const found = contentsOf(command).at(-1);
    expect(found).toBeDefined();
    if (Array.isArray(names)) {
      const [subcommand, ...rest] = names;
      // The very same command, with names for contents.
      expect(found?.names).toEqual(expect.arrayContaining([subcommand, "--name-only", "-z"]));
      expect([found?.names ?? []].flat().filter((word) => !ours.has(word))).toEqual([subcommand, ...rest]);
    } else expect(found?.names).toEqual(names);
    expect(found?.objects).toEqual(objects);
  });

  const ours = new Set(
    "--name-only -z --no-renames --no-ext-diff --no-textconv --format= -r --root --no-commit-id".split(" "),
  );

  test("where it runs is a part of it", () => {
    expect(contentsOf("git diff")[0]?.directory).toBe("/ws");
    expect(contentsOf("cd packages/core && git diff")[0]?.directory).toBe("/ws/packages/core");
    expect(contentsOf("test -d x && cd x; git diff")[0]?.names).toBe("unknown");
  });

  test("behind wrappers, in pipes and scripts, it is seen as well", () => {
    for (const command of [
      "time git diff | head",
      "bash -c 'git diff'",
      "git status && git log -p | grep x",
      "x=$(git diff)",
      "GIT_PAGER=cat git diff",
    ]) {
      expect(contentsOf(command).length, command).toBeGreaterThan(0);
    }
  });
});

describe("what git commands name", () => {
  test.each([
    ...["git show HEAD:.env", "git show :.env", "git show :0:.env", "git show :/.env", "git diff -- .env"],
    ...["git diff -- ':(top).env'", "git diff -- ':/.env'", "git log -p -- .env", "git log -L1,5:.env"],
    ...["git log -L 1,5:.env", "git blame .env", "git grep KEY -- .env", "git cat-file -p HEAD:.env"],
  ])("%s is refused by its name", (command) => {
    expect(analyse(command).dangers[0]).toMatchObject({ rule: "floor/credentials", verdict: "deny" });
  });

  test.each(["git diff -- . ':(exclude,top).env'", "git diff HEAD -- . ':!.env'", "git log -p -- . ':^.env'"])(
    "%s leaves it out",
    (command) => {
      expect(analyse(command)).toMatchObject({ readsOnly: true, dangers: [] });
    },
  );
});

test("any options and words: what prints by default is never taken for silent, and what asks for names starts no program", () => {
  const word = fc.oneof(
    fc.constantFrom("-p", "--cached", "HEAD", "--", "src", "-U3", "--color", "-w", "--word-diff", "--no-index", "-z"),
    fc.constantFrom("--output=x", "--ext-diff", "-O", "--textconv", "--open-files-in-pager", "--since=1", "-5", "a:b"),
    fc.string({ maxLength: 8 }).map((text) => `'${text.replaceAll("'", "")}'`),
  );
  const silent = /^(?:--stat|--name|-s$|--raw|--quiet|--no-patch|--num|--short|--dirstat|--summary|--compact)/;
  fc.assert(
    fc.property(fc.constantFrom("diff", "show", "grep x"), fc.array(word, { maxLength: 6 }), (subcommand, words) => {
      fc.pre(!words.some((each) => silent.test(each.replaceAll("'", "")) || /^'?-[a-zA-Z]*[lLcqs]/.test(each)));
      const [found] = contentsOf(`git ${subcommand} ${words.join(" ")}`);
      expect(found).toBeDefined();
      if (!Array.isArray(found?.names)) return;
      const separator = found.names.indexOf("--");
      const options = separator < 0 ? found.names : found.names.slice(0, separator);
      expect(options).not.toContain("--ext-diff");
      expect(options).not.toContain("--textconv");
      expect(options.some((each: string) => /^--o/.test(each))).toBe(false);
      // Of `git diff` it is a file with an order; of `git grep` it starts a pager.
      if (subcommand !== "diff" && subcommand !== "show") expect(options).not.toContain("-O");
    }),
  );
});
