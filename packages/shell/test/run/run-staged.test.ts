import { execFileSync } from "node:child_process";
import { existsSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type TemporaryDirectory,
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { useMachine } from "../use-machine.ts";
import { commit, words } from "./staged-commands.ts";

const machine = useMachine();

async function found(
  directory: TemporaryDirectory | TemporaryRepository,
  text: string,
  options: { readonly below?: string; readonly confirmed?: boolean } = {},
): Promise<readonly string[]> {
  const staged = await machine().run(join(directory.root, options.below ?? ""), text, options.confirmed);
  await staged.drop();
  return staged.effects.map(words).toSorted();
}

describe("what a staged command did, in the words of policies", () => {
  test.each<[string, string, readonly string[]]>([
    [
      "a changed, a new and a deleted file",
      "echo 2 > a.txt; echo b > b.txt; rm c.txt",
      ["create b.txt", "delete c.txt tracked", "update a.txt tracked"],
    ],
    ["what git ignores", "mkdir -p dist && echo 1 > dist/app.js", ["create dist/app.js agreed ignored"]],
    ["nothing", "cat a.txt", []],
    ["a file written anew with the same bytes", "cp a.txt t && cat t > a.txt && rm t", []],
    ["an empty directory", "mkdir empty", []],
    ["a commit", `echo 2 > a.txt; ${commit} -am two`, ["git ref refs/heads/main", "update a.txt tracked"]],
    ["a new branch", "git switch -q -c new", ["git head HEAD", "git ref refs/heads/new"]],
    ["what a rebase with two conflicts leaves behind", "git rev-parse HEAD > .git/REBASE_HEAD", []],
    ["a tag", "git tag v1", ["git ref refs/tags/v1"]],
    ["git's settings", "git config user.name x", ["git control .git/config"]],
    ["another repository", "git init -q sub", ["create sub/.git nested-repository"]],
    ["a link to outside", "ln -s /etc/passwd l", ["create l leads-outside"]],
    [
      "package.json, written in another way",
      "echo '{\"scripts\": {}}' > package.json",
      ["update package.json agreed tracked"],
    ],
    ["scripts of package.json", 'echo \'{"scripts":{"x":"y"}}\' > package.json', ["update package.json tracked"]],
  ])("%s", async (_name, text, expected) => {
    await using repository = await temporaryRepository({
      "a.txt": "1\n",
      "c.txt": "c\n",
      ".gitignore": "dist\n",
      "package.json": '{"scripts":{}}\n',
    });
    expect(await found(repository, text)).toEqual(expected);
    expect(await repository.git("status", "--porcelain")).toBe("");
  });

  test("a person's yes to git's own verbs covers what they do", async () => {
    await using repository = await temporaryRepository({ "a.txt": "1\n" });
    expect(await found(repository, "git config user.name x", { confirmed: true })).toEqual([
      "git control .git/config agreed",
    ]);
  });

  test("content that only git's index has, and only a commit", async () => {
    await using repository = await temporaryRepository({ "package.json": "{}\n", "a.txt": "1\n" });
    const index = "git update-index --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),package.json";
    expect(await found(repository, index)).toEqual(["update package.json only-in-index"]);
    expect(await found(repository, `${index}; ${commit} -m x; git reset -q HEAD~1 --soft; git reset -q`)).toEqual([]);
    expect(await found(repository, `${index}; ${commit} -m x; git read-tree HEAD~1`)).toEqual([
      "git ref refs/heads/main",
      "update package.json only-in-index",
    ]);
    const link = "git update-index --add --cacheinfo 120000,$(printf /etc/passwd | git hash-object -w --stdin),link";
    expect(await found(repository, link)).toEqual(["create link only-in-index"]);
    expect(await found(repository, "ln -s a.txt link; git add link")).toEqual(["create link"]);
  });

  test("a link in a commit that the tree shows as a file, or behind another link", async () => {
    await using repository = await temporaryRepository({ "a.txt": "1\n", "in/deep/b.txt": "1\n" });
    const link = (path: string) => `git update-index --add --cacheinfo 120000,$(git hash-object -w x),${path}`;
    expect(await found(repository, `printf ../../outside > x; ${link("x")}; ${commit} -m c`)).toEqual([
      "create x",
      "git ref refs/heads/main",
      "update x only-in-index",
    ]);
    symlinkSync("../../a.txt", repository.path("in/deep/link"));
    symlinkSync("in/deep", repository.path("d"));
    writeFileSync(repository.path("x"), "../../a.txt");
    expect(await found(repository, link("in/deep/link"))).toEqual(["update in/deep/link agreed"]);
    expect(await found(repository, link("d/link"))).toEqual(["update d/link only-in-index"]);
  });

  test("what the server writes of intents is nobody's change in the index, as long as it is that", async () => {
    await using repository = await temporaryRepository({ "a.txt": "1\n" });
    await repository.write(".orchestration/intent_map.md", "# Map\n");
    expect(await found(repository, "git add .")).toEqual([]);
    const other = "$(echo evil | git hash-object -w --stdin),.orchestration/intent_map.md";
    expect(await found(repository, `git update-index --add --cacheinfo 100644,${other}`)).toEqual([
      "update .orchestration/intent_map.md only-in-index",
    ]);
  });

  test("in a part of a repository, what lies around it is outside", async () => {
    await using repository = await temporaryRepository({ "part/a.txt": "1\n", "b.txt": "b\n" });
    expect(await found(repository, "echo 2 > a.txt; echo 2 > ../b.txt", { below: "part" })).toEqual([
      "update OUTSIDE tracked",
      "update a.txt tracked",
    ]);
  });

  test("in a linked working tree", async () => {
    await using repository = await temporaryRepository({ "a.txt": "1\n" });
    await using place = await temporaryDirectory();
    await repository.git("worktree", "add", "-q", "-b", "work", place.path("tree"));
    expect(await found(place, `echo 2 > a.txt; ${commit} -am two`, { below: "tree" })).toEqual([
      "git ref refs/heads/work",
      "update a.txt tracked",
    ]);
  });

  test("another working tree of the same repository is not this one's", async () => {
    await using repository = await temporaryRepository({ "a.txt": "1\n" });
    await using place = await temporaryDirectory();
    await repository.git("worktree", "add", "-q", "-b", "work", place.path("tree"));
    const move = "symbolic-ref HEAD refs/heads/x";
    const stage = 'update-index --cacheinfo "100644,$(echo evil | git hash-object -w --stdin),a.txt"';
    const todo = "rebase-merge && echo 'exec evil' >";
    const other = (git: string): string =>
      [
        `git --git-dir=${git} ${move}; GIT_INDEX_FILE=${git}/index git ${stage}`,
        `echo > ${git}/MERGE_HEAD; mkdir ${git}/${todo} ${git}/rebase-merge/git-rebase-todo`,
      ].join("; ");
    const touched = ["HEAD", "MERGE_HEAD", "index", "rebase-merge/git-rebase-todo"];
    expect((await found(repository, other(".git/worktrees/tree"))).filter((one) => one.startsWith("git"))).toEqual(
      touched.map((path) => `git control .git/worktrees/tree/${path}`),
    );
    const main = await found(place, other(repository.path(".git")), { below: "tree" });
    expect(main.filter((one) => one.startsWith("git"))).toEqual(touched.map((path) => `git control .git/${path}`));
    const own = `mkdir -p $(git rev-parse --git-dir)/${todo} $(git rev-parse --git-dir)/rebase-merge/git-rebase-todo`;
    expect(await found(place, own, { below: "tree" })).toEqual([
      "git control .git/worktrees/tree/rebase-merge/git-rebase-todo",
    ]);
  });

  test("HEAD on no branch, whatever a rebase says", async () => {
    await using repository = await temporaryRepository({ "a.txt": "1\n" });
    const rebase = "mkdir .git/rebase-merge; echo refs/heads/main > .git/rebase-merge/head-name";
    expect(await found(repository, `git checkout -q --detach; ${rebase}`)).toEqual([
      "git head HEAD detached",
      "git operation .git/rebase-merge/head-name",
    ]);
  });

  test("where there is no repository", async () => {
    await using directory = await temporaryDirectory({ "a.txt": "1\n" });
    expect(await found(directory, "echo 2 > a.txt; echo b > b.txt")).toEqual(["create b.txt", "update a.txt"]);
  });
});

describe("objects hold what their names say", () => {
  /** What a commit holds at `a.txt`, under its name: as a file of its own, or in a pack, which git prefers. */
  const forge = `
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";
const sha1 = (...parts) => createHash("sha1").update(Buffer.concat(parts)).digest();
const number = (value) => Buffer.from(value.toString(16).padStart(8, "0"), "hex");
const id = execFileSync("git", ["rev-parse", process.argv[3] ?? "HEAD:a.txt"]).toString().trim();
if (process.argv[2] === "loose") {
  mkdirSync(\`.git/objects/\${id.slice(0, 2)}\`, { recursive: true });
  writeFileSync(\`.git/objects/\${id.slice(0, 2)}/\${id.slice(2)}\`, deflateSync("blob 5\\0evil\\n"));
} else {
  const entry = Buffer.concat([Buffer.from([0x35]), deflateSync("evil\\n")]);
  const pack = Buffer.concat([Buffer.from("PACK"), number(2), number(1), entry]);
  const fan = Buffer.concat(Array.from({ length: 256 }, (_, at) => number(at >= parseInt(id.slice(0, 2), 16) ? 1 : 0)));
  const table = [Buffer.from("ff744f63", "hex"), number(2), fan, Buffer.from(id, "hex"), number(crc32(entry)), number(12), sha1(pack)];
  const name = \`.git/objects/pack/pack-\${sha1(pack).toString("hex")}\`;
  writeFileSync(\`\${name}.pack\`, Buffer.concat([pack, sha1(pack)]));
  writeFileSync(\`\${name}.idx\`, Buffer.concat([...table, sha1(...table)]));
}
`;
  test.each<[string, string, RegExp | undefined]>([
    ["in a pack", "node forge.mjs pack && git show HEAD:a.txt", /^git control \.git\/objects\/pack\/pack-\w+\.pack$/],
    [
      "one that is not there",
      "node forge.mjs loose ff00000000000000000000000000000000000000",
      /^git control \.git\/objects\/ff\/0+$/,
    ],
    ["an index without its pack", "node forge.mjs pack && rm .git/objects/pack/*.pack", /^git control .*\.idx$/],
    [
      "what git is to believe of another pack",
      "touch .git/objects/pack/pack-$(printf %040d 1).keep",
      /^git control .*\.keep$/,
    ],
    [
      "no object at all",
      "mkdir -p .git/objects/aa && echo > .git/objects/aa/00000000000000000000000000000000000000",
      /^git control/,
    ],
    [
      "no large file of Git LFS",
      "mkdir -p .git/lfs/objects/aa/bb; echo > .git/lfs/objects/aa/bb/aabb$(printf %060d 0)",
      /^git control \.git\/lfs/,
    ],
    [
      "a large file of Git LFS",
      "cd .git; h=$(printf a | sha256sum | cut -c1-64); mkdir -p lfs/objects/ca/97; printf a > lfs/objects/ca/97/$h",
      undefined,
    ],
    ["packed by git", "git repack -qad", undefined],
    [
      "large ones",
      "head -c 9000000 /dev/zero > zeros; head -c 400000 /dev/urandom > random; git add zeros random; rm zeros random; git reset -q",
      undefined,
    ],
  ])("%s", async (_name, text, control) => {
    await using repository = await temporaryRepository({ "a.txt": "1\n", "forge.mjs": forge });
    const effects = await found(repository, text);
    if (control === undefined) expect(effects.filter((effect) => effect.startsWith("git"))).toEqual([]);
    else expect(effects.filter((effect) => control.test(effect))).toHaveLength(1);
  });
});

const device = "stat -c %d a.txt";
test.each<[string, string, boolean, (repository: TemporaryRepository) => unknown]>([
  ["plainly", device, true, () => undefined],
  ["git, without programs in its settings", `${device}; git status`, true, () => undefined],
  ["git, with one", `${device}; git status`, false, (each) => each.git("config", "core.fsmonitor", "./x")],
  ["not git, with one", device, true, (each) => each.git("config", "core.fsmonitor", "./x")],
  ["a program that may be a wrapper", `${device}; node --version`, false, () => undefined],
  ["a command that may write", `${device}; touch b.txt`, false, () => undefined],
  ["a workspace with a pipe", device, false, (each) => execFileSync("mkfifo", [each.path("pipe")])],
  ["a workspace with a secret", `${device}; ls -a`, true, (each) => each.write(".env", "KEY=secret\n")],
])("what only reads sees the workspace itself, and not a stage over it: %s", async (_name, text, isItself, prepare) => {
  await using repository = await temporaryRepository({ "a.txt": "1\n" });
  await prepare(repository);
  const staged = await machine().run(repository.root, text);
  await staged.drop();
  const seen = Number(staged.run.output.split("\n")[0]);
  expect(seen === statSync(repository.path("a.txt")).dev).toBe(isItself);
  expect(staged.run.exitCode).toBe(0);
  expect(staged.run.output).not.toContain("secret");
});

test("what is kept is there, and a database that is open is told of", async () => {
  await using repository = await temporaryRepository({ "app.db": "1\n" });
  writeFileSync(repository.path("app.db-wal"), "");
  const staged = await machine().run(repository.root, "echo 2 > app.db; echo n > new.txt");
  expect(staged.effects.map(words)).toContain("update app.db tracked open-database");
  expect(existsSync(repository.path("new.txt"))).toBe(false);
  const { changes } = await staged.keep(new Set());
  expect(await repository.read("app.db")).toBe("2\n");
  expect(changes.map(({ path }) => path)).toEqual(["app.db", "new.txt"]);
});

test("a pipe is not kept, and it is told that the file in whose place it was is deleted", async () => {
  await using repository = await temporaryRepository({ "a.txt": "1\n", "b.txt": "1\n" });
  const staged = await machine().run(repository.root, "rm a.txt; mkfifo a.txt p");
  expect(staged.left.toSorted()).toEqual([
    "a.txt (it is not a file; the entry that it replaced is deleted)",
    "p (it is not a file)",
  ]);
  await staged.keep(new Set());
  expect(await repository.git("status", "--porcelain")).toBe(" D a.txt");
});

test("a file that was written as it was shown is not kept, and its login stays", async () => {
  await using repository = await temporaryRepository({ "a.txt": "1\n", ".npmrc": "a=1\n//x/:_authToken=SECRET\n" });
  const staged = await machine().run(repository.root, "grep -v _authToken .npmrc > c; mv c .npmrc");
  expect(staged.left).toEqual([".npmrc (its logins stay, which commands do not see)"]);
  await staged.keep(new Set());
  expect(await repository.read(".npmrc")).toContain("SECRET");
});

test("where nothing can be staged, the command does not run, and the reason is said", async () => {
  await using directory = await temporaryDirectory({ "a.txt": "1\n" });
  await expect(machine().run("/", "touch x")).rejects.toMatchObject({ code: "stage_unavailable" });
  expect(await machine().stages.support(directory.root)).toEqual({ state: "staged" });
});

test.each([
  ["a commit that is not there", `printf '%040d\\n' 1 > .git/refs/heads/x`],
  [
    "a commit whose parent is not there",
    `git update-ref refs/heads/x $(git cat-file commit HEAD | sed '1a parent ${"1".repeat(40)}' | git hash-object -t commit -w --stdin)`,
  ],
])("what nobody can judge is not kept, and the reason is said: a branch that leads to %s", async (_name, command) => {
  await using repository = await temporaryRepository({ "a.txt": "1\n" });
  await expect(machine().run(repository.root, command)).rejects.toMatchObject({
    code: "not_observable",
    message: expect.stringMatching(
      /^The command's branches and tags cannot be read: .*Nothing of what the command did is kept\.$/s,
    ),
  });
  expect(existsSync(repository.path(".git/refs/heads/x"))).toBe(false);
});

test("a person who is asked reads what would be kept", async () => {
  await using repository = await temporaryRepository({
    "a.txt": "one\ntwo\n",
    "gone.txt": "gone\n",
    ".gitignore": "out\n",
    "big.txt": "x\n",
  });
  const staged = await machine().run(
    repository.root,
    "sed -i s/two/2/ a.txt; rm gone.txt; printf '\\000' > bytes; mkdir out; echo 1 > out/x; ln -s a.txt l; seq 100000 > big.txt; chmod +x .gitignore",
  );
  const diff = staged.diff();
  // Only text that git does not ignore is reviewed by the hunk.
  const hunks = staged.proposed().map(({ path, operation, hunks: { length } }) => `${operation} ${path} ${length}`);
  await staged.drop();
  expect(hunks).toEqual([
    "update .gitignore 0",
    "update a.txt 1",
    "update big.txt 1",
    "create bytes 0",
    "delete gone.txt 0",
    "create l 0",
    "create out/x 0",
  ]);
  expect(diff).toContain("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
  expect(diff).toContain("--- a/gone.txt\n+++ /dev/null\n");
  expect(diff).toContain("create bytes (no text)\n");
  expect(diff).toContain("create out/x (git ignores it)\n");
  expect(diff).toContain("create l (a link to a.txt)\n");
  expect(diff).toContain("update .gitignore (its mode or its line ends)\n");
  expect(diff).toMatch(/1 more file is not shown here\.\n$/);
});

test("a person who is asked reads where history is cut off", async () => {
  await using repository = await temporaryRepository({ "a.txt": "1\n" });
  const staged = await machine().run(repository.root, "git rev-parse HEAD > .git/shallow");
  const diff = staged.diff();
  await staged.drop();
  expect(staged.effects.map(words)).toEqual(["git control .git/shallow"]);
  expect(diff).toContain(`+${(await repository.git("rev-parse", "HEAD")).trim()}\n`);
});

test("what links of control files and git's configuration lead to is told of", async () => {
  await using repository = await temporaryRepository({
    "docs/agents.txt": "1\n",
    "hooks/pre-commit": "1\n",
    "b.txt": "b\n",
  });
  symlinkSync("docs/agents.txt", repository.path("AGENTS.md"));
  await repository.git("config", "core.hooksPath", "hooks");
  expect(await found(repository, "echo 2 > docs/agents.txt; echo 2 > hooks/post-merge; echo 2 > b.txt")).toEqual([
    "create hooks/post-merge control-target",
    "update b.txt tracked",
    "update docs/agents.txt tracked control-target",
  ]);
});
