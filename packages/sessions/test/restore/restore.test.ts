import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { forgetCheckpoints } from "@gennai/store/checkpoints/forget-checkpoints";
import { checkpointDirectory, WorkspaceCheckpoints } from "@gennai/store/checkpoints/workspace-checkpoints";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type DiskEntry, put, treeOf } from "../../../store/test/checkpoints/tree-on-disk.ts";
import { git, world } from "./restore-world.ts";

function digest(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

test("a dirty tree comes back byte for byte after a command that deleted it, and the user's index is untouched", async () => {
  const { root, command, restore } = world();
  git(root, "init", "-q");
  put(root, ".gitignore", { text: "*.env\nbuilt/\n" });
  put(root, ".gitattributes", { text: "* text=auto eol=lf\n*.txt filter=upper ident\n" });
  put(root, "src/tracked.txt", { text: "one\r\ntwo $Id$\r\n" });
  put(root, "src/staged.ts", { text: "before\n" });
  put(root, "run.sh", { text: "#!/bin/sh\n", mode: 0o755 });
  put(root, "forced.env", { text: "tracked though ignored\n" });
  git(root, "add", "-A");
  git(root, "add", "-f", "forced.env");
  git(root, "commit", "-qm", "first");
  git(root, "config", "filter.upper.clean", "tr a-z A-Z");
  git(root, "config", "core.autocrlf", "input");
  put(root, "src/tracked.txt", { text: "dirty\r\n\0binary" });
  put(root, "src/staged.ts", { text: "staged\n" });
  git(root, "add", "src/staged.ts");
  put(root, "src/staged.ts", { text: "staged and dirty\n", mode: 0o600 });
  put(root, "local.env", { text: "SECRET=1\n", mode: 0o600 });
  put(root, "un tracked/ä\nline.md", { text: "untracked" });
  put(root, "un tracked/link", { link: "../src/staged.ts" });
  put(root, "nested/.git/HEAD", { text: "ref: refs/heads/main\n" });
  git(join(root, "nested"), "init", "-q");
  put(root, "nested/inner.ts", { text: "inner\n" });
  const before = treeOf(root);
  const status = git(root, "--no-optional-locks", "status", "--porcelain=v2", "-z");
  const index = digest(join(root, ".git/index"));
  const refs = git(root, "for-each-ref") + git(root, "count-objects", "-v");

  const id = await command(() => {
    rmSync(join(root, "src"), { recursive: true });
    rmSync(join(root, "un tracked"), { recursive: true });
    for (const path of ["local.env", "forced.env", "run.sh", "nested/inner.ts", ".gitattributes"])
      rmSync(join(root, path));
    put(root, "made/by/command.txt", { text: "new" });
  });
  expect(await restore([id])).toEqual({ skipped: [{ path: "made/by/command.txt", reason: "not_certain" }] });
  expect(treeOf(root)).toEqual({ ...before, "made/by/command.txt": "644 new" });
  expect(await restore([id], { force: true })).toEqual({ skipped: [] });

  expect(treeOf(root)).toEqual(before);
  expect(digest(join(root, ".git/index"))).toBe(index);
  expect(git(root, "--no-optional-locks", "status", "--porcelain=v2", "-z")).toBe(status);
  expect(git(root, "for-each-ref") + git(root, "count-objects", "-v")).toBe(refs);
});

test("what the user changed since is left, and named files come back by force", async () => {
  const { root, command, restore } = world();
  put(root, "a.txt", { text: "a\n" });
  put(root, "b.txt", { text: "b\n" });
  const first = await command(() => put(root, "a.txt", { text: "agent\n" }));
  put(root, "a.txt", { text: "user\n" });
  put(root, "mine.txt", { text: "user's own\n" });
  const second = await command(() => put(root, "b.txt", { text: "agent\n" }));

  expect(await restore([first, second])).toEqual({
    skipped: [
      { path: "a.txt", reason: "changed_since" },
      { path: "b.txt", reason: "not_certain" },
    ],
  });
  expect(await restore([first, second], { paths: ["b.txt"], force: true })).toEqual({ skipped: [] });
  expect(treeOf(root)).toEqual({ "a.txt": "644 user\n", "b.txt": "644 b\n", "mine.txt": "644 user's own\n" });
  expect(await restore([first], { paths: ["a.txt"], force: true })).toEqual({ skipped: [] });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("a\n");
});

test("what the user saved while a command ran is left", async () => {
  const { root, command, restore } = world();
  put(root, "mine.txt", { text: "old\n" });
  put(root, "gone.txt", { text: "gone\n" });
  put(root, "run.sh", { text: "#!/bin/sh\n" });
  put(root, "from.txt", { text: "moved\n" });
  const id = await command(() => {
    put(root, "agent.txt", { text: "a\n" });
    rmSync(join(root, "gone.txt"));
    put(root, "run.sh", { text: "#!/bin/sh\n", mode: 0o755 });
    renameSync(join(root, "from.txt"), join(root, "to.txt"));
    put(root, "mine.txt", { text: "the user's save\n" });
    put(root, "new-of-mine.txt", { text: "the user's new file\n" });
  });
  const { skipped } = await restore([id]);
  expect(skipped.map(({ path, reason }) => `${path} ${reason}`).sort()).toEqual([
    "agent.txt not_certain",
    "mine.txt not_certain",
    "new-of-mine.txt not_certain",
  ]);
  // Nothing is lost by what went back.
  expect(treeOf(root)).toEqual({
    "agent.txt": "644 a\n",
    "from.txt": "644 moved\n",
    "gone.txt": "644 gone\n",
    "mine.txt": "644 the user's save\n",
    "new-of-mine.txt": "644 the user's new file\n",
    "run.sh": "644 #!/bin/sh\n",
  });
  expect(await restore([id], { paths: ["agent.txt"], force: true })).toEqual({ skipped: [] });
  expect(existsSync(join(root, "agent.txt"))).toBe(false);
});

test("what somebody changed between two commands is left", async () => {
  const { root, command, restore } = world();
  put(root, "a.txt", { text: "a\n" });
  const first = await command(() => put(root, "a.txt", { text: "agent\n" }));
  put(root, "a.txt", { text: "user\n" });
  const second = await command(() => put(root, "a.txt", { text: "agent again\n" }));
  expect(await restore([first, second])).toEqual({ skipped: [{ path: "a.txt", reason: "changed_between" }] });
  expect(await restore([second], { force: true })).toEqual({ skipped: [] });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("user\n");
});

test("of files too large to keep, those that came are removed by force, and those that went are named", async () => {
  const { root, command, restore } = world();
  const large = (path: string): void => {
    put(root, path, { text: "" });
    truncateSync(join(root, path), 17 * 1024 * 1024);
  };
  large("gone.db");
  large("replaced.db");
  put(root, "grown.txt", { text: "small\n" });
  put(root, ".gitignore", { text: "older.db\n" });
  large("older.db");
  const id = await command(() => {
    rmSync(join(root, "gone.db"));
    put(root, "replaced.db", { text: "agent\n" });
    large("grown.txt");
    large("made/new.db");
  });
  const notKept = [
    { path: "replaced.db", reason: "not_kept" },
    { path: "gone.db", reason: "not_kept" },
  ];
  const { skipped } = await restore([id]);
  expect(skipped).toEqual(expect.arrayContaining([...notKept, { path: "made/new.db", reason: "not_certain" }]));
  expect(existsSync(join(root, "made/new.db"))).toBe(true);
  expect((await restore([id], { force: true })).skipped).toEqual(expect.arrayContaining(notKept));
  expect(existsSync(join(root, "made"))).toBe(false);
  expect(readFileSync(join(root, "replaced.db"), "utf8")).toBe("agent\n");

  const shown = await command(() => put(root, ".gitignore", { text: "" }));
  await restore([shown], { force: true });
  expect(existsSync(join(root, "older.db"))).toBe(true);
});

test("files that only stopped being ignored are not taken for new ones", async () => {
  const { root, command, restore } = world();
  put(root, ".gitignore", { text: "modules/\n" });
  put(root, "modules/large.js", { text: "older than the agent\n" });
  const id = await command(() => put(root, ".gitignore", { text: "" }));
  expect(await restore([id], { paths: [".gitignore"], force: true })).toEqual({ skipped: [] });
  expect(await restore([id])).toEqual({ skipped: [{ path: "modules/large.js", reason: "not_certain" }] });
  expect(treeOf(root)).toMatchObject({
    ".gitignore": "644 modules/\n",
    "modules/large.js": "644 older than the agent\n",
  });
});

test("that the ledger's own ignore file appears while a command runs, is nothing the command changed", async () => {
  const { root, checkpoints, restore } = world();
  git(root, "init", "--quiet", "--template=");
  const id = await checkpoints.open("session", new AbortController().signal);
  put(root, ".orchestration/.gitignore", { text: ".gitignore\nagent_trace*.jsonl\n" });
  put(root, "new.txt", { text: "agent\n" });
  await checkpoints.close(id);
  // Of what an ignore rule may have let appear, the end would not be known.
  expect(await checkpoints.changesOf(id)).toMatchObject([{ path: "new.txt", after: { type: "file" } }]);
  expect(await restore([id], { force: true })).toEqual({ skipped: [] });
  expect(existsSync(join(root, "new.txt"))).toBe(false);
});

test("a first look at the repository that was broken off is done again", async () => {
  const { root, checkpoints, command, restore } = world();
  git(root, "init", "--quiet", "--template=");
  // Where its rules are, only git can tell.
  git(root, "config", "extensions.worktreeConfig", "false");
  put(root, ".git/info/exclude", { text: "build/\n" });
  put(root, "build/large.js", { text: "x".repeat(2_000_000) });
  const stopped = new AbortController();
  const first = checkpoints.open("session", stopped.signal);
  stopped.abort();
  await expect(first).rejects.toThrow();
  const id = await command(() => put(root, "build/large.js", { text: "y".repeat(2_000_000) }));
  // Ignored files of this size are not kept; it would be were the rules not known.
  expect(await checkpoints.changesOf(id)).toEqual([]);
  expect(await restore([id])).toEqual({ skipped: [] });
});

test("a call that never ended is closed as uncertain", async () => {
  const { root, checkpoints, restore } = world();
  put(root, "a.txt", { text: "a\n" });
  const id = await checkpoints.open("session", new AbortController().signal);
  put(root, "a.txt", { text: "who knows\n" });
  expect(await restore([id])).toEqual({ skipped: [{ path: "a.txt", reason: "not_certain" }] });
  await restore([id], { paths: ["a.txt"], force: true });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("a\n");
});

test("to look at a call that still runs takes nothing of what is known when it ends", async () => {
  const { root, checkpoints, restore } = world();
  put(root, "a.txt", { text: "a\n" });
  const id = await checkpoints.open("session", new AbortController().signal);
  put(root, "a.txt", { text: "agent\n" });
  expect(await checkpoints.changesOf(id)).toMatchObject([{ path: "a.txt", after: { type: "unknown" } }]);
  await checkpoints.close(id);
  expect(await checkpoints.changesOf(id)).toMatchObject([{ path: "a.txt", after: { type: "file" } }]);
  expect(await restore([id], { force: true })).toEqual({ skipped: [] });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("a\n");
});

test("a lock and a damaged index of a git that was killed are mended", async () => {
  const { root, command, restore } = world();
  put(root, "a.txt", { text: "a\n" });
  await command(() => undefined);
  const repository = join(checkpointDirectory({ stateDir: join(root, "..", "state"), root }), "repository");
  writeFileSync(join(repository, "index.lock"), "");
  writeFileSync(join(repository, "index"), "damaged");
  const id = await command(() => rmSync(join(root, "a.txt")));
  expect(await restore([id])).toEqual({ skipped: [] });
  expect(treeOf(root)).toEqual({ "a.txt": "644 a\n" });
});

test("forgetting a session removes what only it needs", async () => {
  const { root, checkpoints, command } = world();
  put(root, "a.txt", { text: "gone after this\n" });
  const id = await command(() => put(root, "a.txt", { text: "now\n" }));
  const [change] = (await checkpoints.changesOf(id)) ?? [];
  const object = change?.before.type === "file" ? (change.before.object ?? "") : "";
  expect((await checkpoints.contents([object])).size).toBe(1);
  await checkpoints.forgetSessions(new Set(["session"]));
  expect(await checkpoints.changesOf(id)).toBeUndefined();
  await expect(checkpoints.contents([object])).rejects.toThrow("no longer kept");
  expect(treeOf(root)).toEqual({ "a.txt": "644 now\n" });
});

const name = fc.constantFrom(
  "a",
  "b",
  "c d",
  "ü",
  "new\nline",
  "back\\slash",
  "-x",
  "quote\"'",
  ".env",
  "con",
  "#h",
  "!n",
);
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
const entry: fc.Arbitrary<DiskEntry> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      text: fc.string({ unit: "binary-ascii", maxLength: 8 }),
      mode: fc.constantFrom(0o644, 0o755, 0o600, 0o640, 0o444),
    }),
  },
  { weight: 1, arbitrary: fc.record({ link: fc.constantFrom("a", "../b", "nowhere", "/etc/hosts") }) },
);
const tree = fc.uniqueArray(fc.tuple(path, entry), { selector: ([each]) => each, maxLength: 8 });

test("any tree comes back from any other", async () => {
  const { root, command, restore } = world();
  await fc.assert(
    fc.asyncProperty(tree, tree, tree, async (start, middle, end) => {
      become(root, start);
      const before = treeOf(root);
      const first = await command(() => become(root, middle));
      const second = await command(() => become(root, end));
      expect(await restore([first, second], { force: true })).toEqual({ skipped: [] });
      expect(treeOf(root)).toEqual(before);
    }),
    { numRuns: 15 },
  );
});

/** Entries below a file or a link of the same tree are left out. */
function become(root: string, entries: readonly (readonly [string, DiskEntry])[]): void {
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
  const files: string[] = [];
  for (const [each, what] of entries) {
    if (files.some((file) => each.startsWith(`${file}/`) || file.startsWith(`${each}/`))) continue;
    files.push(each);
    put(root, each, what);
  }
}

test("two servers on one workspace take turns", async () => {
  const { root, checkpoints } = world();
  put(root, "a.txt", { text: "a\n" });
  const other = new WorkspaceCheckpoints({ stateDir: join(root, "..", "state"), root });
  const { signal } = new AbortController();
  const ids = await Promise.all([
    checkpoints.open("one", signal),
    other.open("two", signal),
    checkpoints.open("one", signal),
  ]);
  put(root, "a.txt", { text: "b\n" });
  const closed = await Promise.all(ids.map((id) => other.close(id)));
  expect(closed.map((changes) => changes.map(({ path }) => path))).toEqual([["a.txt"], ["a.txt"], ["a.txt"]]);
});

test("a link that somebody put in the place of a directory is not written through", async () => {
  const { root, command, restore } = world();
  put(root, "dir/a.txt", { text: "a\n" });
  put(root, "b.txt", { text: "b\n" });
  const id = await command(() => {
    rmSync(join(root, "dir"), { recursive: true });
    rmSync(join(root, "b.txt"));
  });
  put(root, "dir", { link: "../state" });
  expect(await restore([id])).toEqual({ skipped: [{ path: "dir/a.txt", reason: "changed_since" }] });
  expect(treeOf(root)).toEqual({ "b.txt": "644 b\n", dir: "link ../state" });
});

test("forgetting a workspace leaves nothing, and the next snapshot begins anew", async () => {
  const { root, checkpoints, command, restore } = world();
  const place = { stateDir: join(root, "..", "state"), root };
  put(root, "PLANTED-NAME.txt", { text: "PLANTED-CONTENT" });
  await command(() => put(root, "PLANTED-NAME.txt", { text: "other" }));
  rmSync(join(root, "PLANTED-NAME.txt"));
  await forgetCheckpoints(place, []);
  expect(existsSync(checkpointDirectory(place))).toBe(false);
  put(root, "b.txt", { text: "b\n" });
  const id = await command(() => rmSync(join(root, "b.txt")));
  expect(await restore([id])).toEqual({ skipped: [] });
  expect(checkpoints.problem).toBeUndefined();
});
