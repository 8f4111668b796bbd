import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { GitMissingError, machineGit } from "@gennai/machine/git/run/machine-git";
import { startGit } from "@gennai/machine/git/run/start-git";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import { oneAfterTheOther, raceJobs } from "@gennai/testkit/race-jobs";
import fc from "fast-check";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { ShadowTree } from "#checkpoints/snapshot/shadow-tree";
import { type DiskEntry, put } from "../tree-on-disk.ts";

vi.mock("@gennai/machine/git/run/machine-git", { spy: true });
vi.mock("@gennai/machine/git/run/start-git", { spy: true });

const made: string[] = [];
afterEach(() => {
  for (const directory of made.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** A tree that remembers, and one that asks git each time, with the same past. */
function world() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "gennai-last-snapshot-")));
  made.push(base);
  const root = join(base, "workspace");
  mkdirSync(root);
  const treeIn = (name: string) =>
    new ShadowTree({ directory: join(base, name), root, locks: new ProcessLocks(join(base, `${name}-locks`)) });
  const remembering = treeIn("remembering");
  const asking = treeIn("asking");
  return {
    base,
    root,
    remembering,
    another: () => treeIn("remembering"),
    /** Programs run as git from here on are counted by files in `base`. */
    asked: async () => {
      rmSync(join(base, "asking", "refs", "newest"), { force: true });
      return asking.snapshot();
    },
  };
}

type Action = (root: string) => void;

const path = fc.constantFrom("a", "b.log", "d/a", "d/e/b.log", "d/e/c", "f/.env", "built/x", "built/deep/y", "d", "f");
const text = fc.constantFrom("", "one\n", "two\n", "1\n".repeat(50));
const entry: fc.Arbitrary<DiskEntry> = fc.oneof(
  fc.record({ text, mode: fc.constantFrom(0o644, 0o755, 0o600) }),
  fc.record({ link: fc.constantFrom("a", "d", "nowhere") }),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(path, entry).map(
      ([at, what]) =>
        (root: string) =>
          attempt(() => put(root, at, what)),
    ),
  },
  { weight: 3, arbitrary: path.map((at) => (root: string) => attempt(() => appendFileSync(join(root, at), "more\n"))) },
  // The same size and time of change as before.
  { weight: 3, arbitrary: path.map((at) => (root: string) => attempt(() => rewriteUnseen(join(root, at)))) },
  {
    weight: 2,
    arbitrary: path.map(
      (at) => (root: string) => attempt(() => rmSync(join(root, at), { recursive: true, force: true })),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(path, path).map(
      ([from, to]) =>
        (root: string) =>
          attempt(() => renameSync(join(root, from), join(root, to))),
    ),
  },
  {
    weight: 1,
    arbitrary: path.map(
      (at) => (root: string) => attempt(() => mkdirSync(join(root, at, "empty"), { recursive: true })),
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(".gitignore", "d/.gitignore"), fc.constantFrom("*.log\nbuilt/\n", "*.log\n", "e/\n", ""))
      .map(
        ([at, rules]) =>
          (root: string) =>
            attempt(() => put(root, at, { text: rules })),
      ),
  },
);

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // What cannot be done there is not done.
  }
}

function rewriteUnseen(file: string): void {
  const { atime, mtime } = lstatSync(file);
  writeFileSync(file, readFileSync(file, "latin1").replaceAll(/[a-z0-9]/g, "z"));
  utimesSync(file, atime, mtime);
}

test("what is remembered and looked at again is what git would find", async () => {
  // More than a thousand times git is asked here; what it answers is the same without a sandbox around each.
  const git = await machineGit();
  vi.mocked(machineGit).mockResolvedValue({ ...git, sandbox: undefined });
  onTestFinished(() => void vi.mocked(machineGit).mockReset());
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(action, { maxLength: 4 }), fc.boolean()), { minLength: 3, maxLength: 8 }),
      async (rounds) => {
        const { root, remembering, asked } = world();
        put(root, "d/e/c", { text: "start\n" });
        let before = await remembering.snapshot();
        let askedBefore = await asked();
        for (const [actions, settles] of rounds) {
          if (settles) await delay(60);
          for (const each of actions) each(root);
          const [now, wanted] = [await remembering.snapshot(), await asked()];
          expect(now).toEqual(wanted);
          // The differences are the same, no matter who made them.
          expect(await remembering.changes(before, now)).toEqual(await remembering.changes(askedBefore, wanted));
          before = now;
          askedBefore = wanted;
        }
      },
    ),
    { numRuns: 8 },
  );
});

test("git, which compares whole seconds, does not miss what was rewritten unseen in the second of its index", async () => {
  const { root, asked } = world();
  const file = join(root, "a");
  writeFileSync(file, "one\n");
  await delay(1_050 + 1_000 - (Date.now() % 1_000));
  // Its index has the time of this change, and is written in the same second.
  chmodSync(file, 0o755);
  const before = await asked();
  rewriteUnseen(file);
  const now = await asked();
  expect(now.tree).not.toBe(before.tree);
});

test("a tree that did not change is known without git, and a change of content is stored as git would", async () => {
  const { base, root, remembering, asked } = world();
  for (let index = 0; index < 30; index += 1) put(root, `d${index % 3}/f${index}`, { text: `${index}\n` });
  const first = await remembering.snapshot();
  await delay(60);
  try {
    // From here on, whoever needs git fails.
    vi.mocked(startGit).mockRejectedValue(new GitMissingError("git is not installed."));
    expect(await remembering.snapshot()).toEqual(first);
    put(root, "d1/f1", { text: "changed\n", mode: 0o755 });
    rmSync(join(root, "d2/f2"));
    const second = await remembering.snapshot();
    expect((await remembering.changes(first, second)).map(({ path: at }) => at)).toEqual(["d1/f1", "d2/f2"]);
    put(root, "d1/new", { text: "new\n" });
    await expect(remembering.snapshot()).rejects.toThrow("git is not installed");
  } finally {
    vi.mocked(startGit).mockReset();
  }
  expect(await remembering.snapshot()).toEqual(await asked());
  execFileSync("git", ["--git-dir", join(base, "remembering"), "fsck", "--strict", "--no-dangling"], { stdio: "pipe" });
});

test("an empty tree that did not change is known without git", async () => {
  const { root, remembering, asked } = world();
  const first = await remembering.snapshot();
  await delay(60);
  try {
    vi.mocked(startGit).mockRejectedValue(new GitMissingError("git is not installed."));
    expect(await remembering.snapshot()).toEqual(first);
  } finally {
    vi.mocked(startGit).mockReset();
  }
  put(root, "a", { text: "a\n" });
  expect(await remembering.snapshot()).toEqual(await asked());
});

test.each<readonly [was: string, make: (directory: string) => void]>([
  ["cut off before HEAD", (directory) => put(directory, "objects/info/none", { text: "" })],
  ["cut off before HEAD had its name", (directory) => put(directory, "HEAD.new", { text: "ref" })],
  ["torn by a power cut", (directory) => put(directory, "HEAD", { text: "" })],
  ["made by git", (directory) => execFileSync("git", ["init", "--quiet", "--bare", directory])],
])("a repository for snapshots that was %s is used", async (_was, make) => {
  const { base, root, remembering, asked } = world();
  make(join(base, "remembering"));
  put(root, "a", { text: "a\n" });
  const first = await remembering.snapshot();
  expect(first).toEqual(await asked());
  await remembering.prune(() => [first.tree]);
  put(root, "d/b", { text: "b\n" });
  const second = await remembering.snapshot();
  expect(await remembering.changes(first, second)).toMatchObject([{ path: "d/b" }]);
  execFileSync("git", ["--git-dir", join(base, "remembering"), "fsck", "--strict", "--no-dangling"], { stdio: "pipe" });
});

test("another process's snapshot makes what is remembered worthless", async () => {
  const { base, root, remembering, another } = world();
  put(root, "a", { text: "a\n" });
  const first = await remembering.snapshot();
  const other = another();
  put(root, "b", { text: "b\n" });
  await other.snapshot();
  rmSync(join(root, "b"));
  // What no snapshot but the newest needs goes, the first one's tree with it.
  await other.snapshot();
  put(root, "a", { text: "other\n" });
  const newest = await other.snapshot();
  await other.prune(() => []);
  put(root, "a", { text: "a\n" });
  expect(await remembering.snapshot()).toEqual(first);
  expect(newest.tree).not.toBe(first.tree);
  execFileSync("git", ["--git-dir", join(base, "remembering"), "cat-file", "-e", `${first.tree}^{tree}`]);
});

test("pruning keeps the newest tree alone, though git was not asked for it", async () => {
  const { root, remembering } = world();
  put(root, "a", { text: "old\n" });
  const old = await remembering.snapshot();
  put(root, "a", { text: "newest\n" });
  const newest = await remembering.snapshot();
  const changes = await remembering.changes(old, newest);
  const [before, after] = [changes[0]?.before, changes[0]?.after].map((state) =>
    state?.type === "file" ? (state.object ?? "") : "",
  );
  await remembering.prune(() => []);
  await expect(remembering.read([before ?? ""])).rejects.toThrow("no longer kept");
  expect((await remembering.read([after ?? ""])).get(after ?? "")?.toString()).toBe("newest\n");
  expect(await remembering.snapshot()).toEqual(newest);
  expect(existsSync(join(root, "a"))).toBe(true);
});

test("a repository inside the workspace, and a directory that becomes one, are left to git", async () => {
  const { root, remembering, asked } = world();
  put(root, "inner/a", { text: "a\n" });
  await remembering.snapshot();
  await asked();
  execFileSync("git", ["init", "-q"], { cwd: join(root, "inner") });
  put(root, "inner/.git/info/exclude", { text: "secret\n" });
  put(root, "inner/secret", { text: "one\n" });
  expect(await remembering.snapshot()).toEqual(await asked());
  put(root, "inner/.git/info/exclude", { text: "" });
  expect(await remembering.snapshot()).toEqual(await asked());
});

test("all ignored is not the same as ignored as a whole", async () => {
  const { root, remembering, asked } = world();
  put(root, ".gitignore", { text: "*.log\nnode_modules/\n" });
  for (const at of ["d/a.log", "d/e/b.log", "g/node_modules/x", "node_modules/y"]) put(root, at, { text: "ignored\n" });
  await remembering.snapshot();
  await asked();
  await delay(60);
  for (const at of ["d/new", "d/e/new", "g/new", "node_modules/new"]) {
    put(root, at, { text: "new\n" });
    expect(await remembering.snapshot()).toEqual(await asked());
  }
});

test("one thing at a time is done in a repository, in order, and a failure keeps none from its turn", async () => {
  const { remembering, root } = world();
  expect(await raceJobs((job) => remembering.alone(job))).toEqual(oneAfterTheOther);
  // Who comes when the first is done does not pass the second by.
  const order: number[] = [];
  const first = remembering.alone(async () => order.push(1));
  const second = remembering.alone(async () => order.push(2));
  const third = first.then(() => remembering.alone(async () => order.push(3)));
  await Promise.all([second, third]);
  expect(order).toEqual([1, 2, 3]);
  writeFileSync(join(root, "a"), "1");
  const given = new AbortController();
  given.abort();
  const looks = await Promise.allSettled([remembering.snapshot(given.signal), remembering.snapshot()]);
  expect(looks.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});
