import { execFileSync } from "node:child_process";
import {
  appendFile,
  chmod,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { withoutRoot } from "@gennai/testkit/without-root";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { verifyWorkspaceLedger } from "#audit/ledger-verify";
import { acquireFileLock } from "#database/file-lock";
import { usualLedgerPath } from "#ledger/ledger-file-name";
import { ledgerHeadFile } from "#ledger/ledger-head-file";
import { recoveredCopies } from "#ledger/ledger-mirror-file";
import type { Store } from "#sqlite/store";
import { entryOf, StoreFixture } from "../sqlite/store-fixture.ts";

let fixture: StoreFixture;
let store: Store;
beforeEach(async () => {
  fixture = await StoreFixture.create();
  store = await fixture.open();
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  await fixture[Symbol.asyncDispose]();
});

async function mirrorText(): Promise<string> {
  return readFile(fixture.mirror, "utf8");
}

async function recovered(): Promise<string[]> {
  const directory = join(fixture.stateDir, "recovered");
  const names = await readdir(directory).catch(() => []);
  return Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
}

async function expectSound(records: number): Promise<void> {
  const { workspaceRoot, stateDir } = { workspaceRoot: fixture.root, stateDir: fixture.stateDir };
  expect(await verifyWorkspaceLedger({ workspaceRoot, stateDir })).toMatchObject({
    status: "ok",
    records,
    compared: { head: true, store: true },
  });
}

it("appears by itself soon after a commit, and on disposal at the latest", async () => {
  await fixture.record(store, 1);
  const first = await mirrorText();
  expect(first.split("\n")).toHaveLength(2);
  await store[Symbol.asyncDispose]();
  await fixture.recordAndClose(2);
  store = await fixture.open();
  expect((await mirrorText()).startsWith(first)).toBe(true);
  await expectSound(3);
  expect(fixture.warnings).toEqual([]);
});

it.each<[string, (path: string) => Promise<void>, string[], boolean]>([
  ["lost", (path) => rm(path), ["was gone"], false],
  ["lost with its directory", (path) => rm(dirname(path), { recursive: true }), ["was gone"], false],
  ["moved away by log rotation", (path) => rename(path, `${path}.1`), ["was gone"], false],
  ["emptied", (path) => truncate(path, 0), ["was gone"], false],
  ["cut in the middle of a line", async (path) => truncate(path, (await lstat(path)).size - 30), [], false],
  [
    "cut by whole lines",
    async (path) => truncate(path, Buffer.byteLength((await mirrorText()).split("\n")[0] ?? "") + 1),
    [],
    false,
  ],
  ["longer than it should be", (path) => appendFile(path, "garbage\n"), ["was changed"], true],
  [
    "of the right size with another last line",
    async (path) => writeFile(path, (await mirrorText()).replace(/.\n$/, "!\n")),
    ["was changed"],
    true,
  ],
  ["something else", (path) => writeFile(path, "x".repeat(300)), ["was changed"], true],
  [
    "cut, and other before the cut",
    async (path) => writeFile(path, (await mirrorText()).slice(0, -700).replaceAll("turn-", "TURN-")),
    ["was changed"],
    true,
  ],
])("is mended byte for byte when it is %s", async (_name, spoil, warnings, kept) => {
  await fixture.record(store, 5);
  const whole = await mirrorText();
  await spoil(fixture.mirror);
  const spoilt = await mirrorText().catch(() => "");
  await fixture.record(store, 1);
  expect((await mirrorText()).startsWith(whole)).toBe(true);
  await expectSound(6);
  expect(fixture.warnings).toHaveLength(warnings.length);
  for (const [index, text] of warnings.entries()) expect(fixture.warnings[index]).toContain(text);
  expect(await recovered()).toEqual(kept ? [spoilt] : []);
});

it("keeps what was in the file before Gennai came, and vouches for it", async () => {
  await mkdir(dirname(fixture.mirror));
  await writeFile(fixture.mirror, '{"id":"1","files":[{"relative_path":"a"}]}\n{"id":"2","fi');
  await fixture.record(store, 2);
  expect(await mirrorText()).toMatch(/^\{"id":"1","files":\[\{"relative_path":"a"\}\]\}\n\{"id":"2","fi\n\{/);
  await expectSound(2);
  await rm(fixture.mirror);
  await fixture.record(store, 1);
  expect(await mirrorText()).toMatch(/^\{"id":"1"/);
  await expectSound(3);
});

describe("writes nothing through", () => {
  let victim: string;
  beforeEach(async () => {
    victim = join(fixture.directory, "victim");
    await writeFile(victim, "precious");
    await mkdir(dirname(fixture.mirror));
  });

  it.each<[string, () => Promise<void>]>([
    ["a link in the file's place", () => symlink(victim, fixture.mirror)],
    ["a dangling link", () => symlink(join(fixture.directory, "created"), fixture.mirror)],
    ["a hard link", () => link(victim, fixture.mirror)],
    ["a directory", () => mkdir(fixture.mirror)],
    ["a FIFO", async () => void execFileSync("mkfifo", [fixture.mirror])],
    [
      "a link in the directory's place",
      async () => {
        await rm(dirname(fixture.mirror), { recursive: true });
        await mkdir(join(fixture.directory, "elsewhere"));
        await symlink(join(fixture.directory, "elsewhere"), dirname(fixture.mirror));
      },
    ],
    [
      "a file in the directory's place",
      async () => {
        await rm(dirname(fixture.mirror), { recursive: true });
        await writeFile(dirname(fixture.mirror), "");
      },
    ],
  ])("%s, says so once, and goes on", async (_name, spoil) => {
    await spoil();
    await fixture.record(store, 2);
    await fixture.record(store, 2);
    expect(fixture.warnings).toHaveLength(1);
    expect(await readFile(victim, "utf8")).toBe("precious");
    expect(await readdir(fixture.directory)).not.toContain("created");
    expect(await readdir(join(fixture.directory, "elsewhere")).catch(() => [])).toEqual([]);
    const location = { workspaceRoot: fixture.root, stateDir: fixture.stateDir };
    expect((await verifyWorkspaceLedger(location)).status).toBe("unsafe_path");

    await rm(dirname(fixture.mirror), { recursive: true });
    await fixture.record(store, 1);
    await expectSound(5);
  });
});

describe("once the workspace's path leads elsewhere", () => {
  const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd });

  it.each([
    ["in its place", "part/workspace"],
    ["in a parent's place", "part"],
  ])("by a link %s, nothing is written there", async (_name, replaced) => {
    const root = join(fixture.directory, "part", "workspace");
    await mkdir(root, { recursive: true });
    await store.log.create({ sessionId: "moved", workspaceRoot: root, time: 1 });
    const elsewhere = join(fixture.directory, "elsewhere");
    await mkdir(join(elsewhere, "workspace"), { recursive: true });
    git(join(elsewhere, "workspace"), "init", "-q");
    const names = await readdir(elsewhere, { recursive: true });
    const exclude = join(elsewhere, "workspace", ".git", "info", "exclude");
    const text = await readFile(exclude, "utf8");

    await rename(join(fixture.directory, replaced), join(fixture.directory, "was"));
    await symlink(replaced === "part" ? elsewhere : join(elsewhere, "workspace"), join(fixture.directory, replaced));
    const batch = { events: [], ledger: [entryOf(1)], durable: true };
    await store.log.append("moved", batch, { seq: 0, epoch: 1 });
    await store.log.append("moved", batch, { seq: 0, epoch: 1 });
    await store.flushLedgers();
    expect(fixture.warnings).toEqual([expect.stringContaining("leads elsewhere")]);
    expect(await readdir(elsewhere, { recursive: true })).toEqual(names);
    expect(await readFile(exclude, "utf8")).toBe(text);
    const report = await verifyWorkspaceLedger({ workspaceRoot: root, stateDir: fixture.stateDir });
    expect(report).toMatchObject({ status: "unsafe_path" });
  });
});

it("says once that a workspace cannot be written, and goes on", async () => {
  await chmod(fixture.root, 0o500);
  await withoutRoot(fixture.directory, async () => {
    await fixture.record(store, 2);
    await fixture.record(store, 2);
  });
  await chmod(fixture.root, 0o700);
  expect(fixture.warnings).toEqual([expect.stringContaining("EACCES")]);
  await fixture.record(store, 1);
  await expectSound(5);
});

it("goes on when the workspace is gone", async () => {
  await rm(fixture.root, { recursive: true });
  await fixture.record(store, 2);
  expect(fixture.warnings).toEqual([expect.stringContaining("ENOENT")]);
  await mkdir(fixture.root);
  await fixture.record(store, 1);
  await expectSound(3);
});

it("is shared by several stores", async () => {
  const others = [await fixture.open(), await fixture.open()];
  for (let round = 0; round < 10; round++) {
    for (const each of [store, ...others]) void fixture.record(each, 3);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  for (const each of others) await each[Symbol.asyncDispose]();
  await fixture.record(store, 1);
  await expectSound(91);
  expect(fixture.warnings).toEqual([]);
});

describe("git", () => {
  const git = (cwd: string, ...args: string[]): string =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, encoding: "utf8" });

  it("does not see the ledger", async () => {
    git(fixture.root, "init", "-q");
    await fixture.record(store, 1);
    expect(git(fixture.root, "status", "--porcelain")).toBe("");
    const exclude = join(fixture.root, ".git", "info", "exclude");
    expect(
      (await readFile(exclude, "utf8")).split("\n").filter((line) => line === "/.orchestration/agent_trace.jsonl"),
    ).toHaveLength(1);

    // Who takes the line out wants the ledger tracked.
    await writeFile(exclude, "");
    await store[Symbol.asyncDispose]();
    await fixture.recordAndClose(1);
    store = await fixture.open();
    expect(await readFile(exclude, "utf8")).toBe("");
  });

  it("does not see it in a worktree", async () => {
    const main = join(fixture.directory, "main");
    await mkdir(main);
    git(main, "init", "-q");
    git(main, "commit", "-q", "--allow-empty", "-m", "x");
    await rm(fixture.root, { recursive: true });
    git(main, "worktree", "add", "-q", fixture.root);
    await fixture.record(store, 1);
    expect(git(fixture.root, "status", "--porcelain")).toBe("");
    expect(await readFile(join(main, ".git", "info", "exclude"), "utf8")).toContain(
      "\n/.orchestration/agent_trace.jsonl\n",
    );
  });

  it("does not see it below the repository's root", async () => {
    git(fixture.directory, "init", "-q");
    await writeFile(join(fixture.root, "a file"), "");
    await fixture.record(store, 1);
    expect(git(fixture.directory, "status", "--porcelain", "-uall", "workspace").trim()).toBe('?? "workspace/a file"');
    expect(await readFile(join(fixture.directory, ".git", "info", "exclude"), "utf8")).toContain(
      "\n/workspace/.orchestration/agent_trace.jsonl\n",
    );
  });

  it.each<[string, (repository: string) => Promise<void>]>([
    ["a link", (repository) => symlink(join(repository, ".git"), join(fixture.root, ".git"))],
    ["a file", (repository) => writeFile(join(fixture.root, ".git"), `gitdir: ${join(repository, ".git")}\n`)],
  ])("leaves another repository alone that %s in the place of .git names", async (_name, name) => {
    const other = join(fixture.directory, "other");
    await mkdir(other);
    git(other, "init", "-q");
    const exclude = join(other, ".git", "info", "exclude");
    const text = await readFile(exclude, "utf8");
    await name(other);
    await fixture.record(store, 1);
    expect(await readFile(exclude, "utf8")).toBe(text);
    await expectSound(1);
  });

  it("does not see it in a submodule", async () => {
    const inner = join(fixture.directory, "inner");
    await mkdir(inner);
    git(inner, "init", "-q");
    git(inner, "commit", "-q", "--allow-empty", "-m", "x");
    git(fixture.directory, "init", "-q", "outer");
    const outer = join(fixture.directory, "outer");
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "part");
    const root = join(outer, "part");
    await store.log.create({ sessionId: "sub", workspaceRoot: root, time: 1 });
    await store.log.append("sub", { events: [], ledger: [entryOf(1)], durable: true }, { seq: 0, epoch: 1 });
    await store.flushLedgers();
    expect(git(root, "status", "--porcelain")).toBe("");
    expect(await readdir(join(root, ".orchestration"))).toEqual(["agent_trace.jsonl"]);
  });

  it("is not written through a link", async () => {
    git(fixture.root, "init", "-q");
    const exclude = join(fixture.root, ".git", "info", "exclude");
    await rm(exclude);
    await symlink(join(fixture.directory, "victim"), exclude);
    await fixture.record(store, 1);
    expect(fixture.warnings).toEqual([expect.stringContaining("info/exclude")]);
    expect(await readdir(fixture.directory)).not.toContain("victim");
    await expectSound(1);
  });
});

it("is brought up to where the store is by the next process, also when that one records nothing", async () => {
  await fixture.record(store, 2);
  const headFile = ledgerHeadFile(fixture.stateDir, fixture.root);
  const [text, head] = [await mirrorText(), await readFile(headFile)];
  await fixture.record(store, 2);
  await store[Symbol.asyncDispose]();
  // As a process leaves it that dies between a commit and its mirroring.
  await writeFile(fixture.mirror, text);
  await writeFile(headFile, head);
  store = await fixture.open();
  await store.flushLedgers();
  await expectSound(4);
});

describe("trouble with one workspace at the start", () => {
  const second = () => join(fixture.directory, "second");
  beforeEach(async () => {
    await fixture.record(store, 1);
    await mkdir(second());
    await store.log.create({ sessionId: "second", workspaceRoot: second(), time: 1 });
    await store.log.append("second", { events: [], ledger: [entryOf(1)], durable: true }, { seq: 0, epoch: 1 });
    await store[Symbol.asyncDispose]();
  });

  it("is told, and the others are brought up all the same", async () => {
    const headFile = ledgerHeadFile(fixture.stateDir, second());
    const [head, text] = [await readFile(headFile), await readFile(usualLedgerPath(second()))];
    store = await fixture.open();
    await store.log.append("second", { events: [], ledger: [entryOf(2)], durable: true }, { seq: 0, epoch: 1 });
    await store[Symbol.asyncDispose]();
    await writeFile(headFile, head);
    await writeFile(usualLedgerPath(second()), text);
    const lock = ledgerHeadFile(fixture.stateDir, fixture.root).replace(/json$/, "lock");
    await rm(lock);
    await mkdir(lock);

    store = await fixture.open();
    await expect
      .poll(() => fixture.warnings)
      .toEqual([expect.stringContaining(`The ledger of ${fixture.root} has copies`)]);
    await store.flushLedgers();
    const report = await verifyWorkspaceLedger({ workspaceRoot: second(), stateDir: fixture.stateDir });
    expect(report).toMatchObject({ status: "ok", records: 2 });
    await rm(lock, { recursive: true });
  });

  it("keeps no record of another from its file while somebody holds the lock", async () => {
    const lock = ledgerHeadFile(fixture.stateDir, fixture.root).replace(/json$/, "lock");
    using held = await acquireFileLock(lock, { timeout: 1000 });
    store = await fixture.open();
    await store.log.append("second", { events: [], ledger: [entryOf(2)], durable: true }, { seq: 0, epoch: 1 });
    const lines = async () => (await readFile(usualLedgerPath(second()), "utf8")).trim().split("\n");
    // Less than the 10 s for which the lock is waited for.
    await expect.poll(lines, { timeout: 8_000 }).toHaveLength(2);
    held[Symbol.dispose]();
  });
});

it("at the next start, copies go with which others begin; what only one has stays", async () => {
  await fixture.record(store, 1);
  const { directory, prefix } = recoveredCopies(fixture.stateDir, fixture.root);
  await mkdir(directory, { recursive: true });
  const line = `${"x".repeat(70_000)}\n`;
  const copies: Readonly<Record<string, string>> = {
    [`${prefix}1700000000001-00000000.jsonl`]: line,
    [`${prefix}1700000000002-00000000.jsonl`]: line.repeat(20),
    [`${prefix}1700000000003-00000000.jsonl`]: line.repeat(20),
    [`${prefix}1700000000004-00000000.jsonl`]: `${line.repeat(19)}another\n`,
    [`${prefix}1700000000005-00000000.jsonl`]: "",
    "0000000000000000-1700000000001-00000000.jsonl": "of another workspace",
    "plan.json": "",
  };
  for (const [name, text] of Object.entries(copies)) await writeFile(join(directory, name), text);
  await store[Symbol.asyncDispose]();
  store = await fixture.open();
  await store.flushLedgers();
  expect((await readdir(directory)).sort()).toEqual(
    [
      "0000000000000000-1700000000001-00000000.jsonl",
      `${prefix}1700000000003-00000000.jsonl`,
      `${prefix}1700000000004-00000000.jsonl`,
      "plan.json",
    ].sort(),
  );
});

describe("a file that is another state directory's ledger", () => {
  it.each<[string, string[]]>([
    ["is theirs alone", ["theirs"]],
    ["is theirs, with a last line half written", ["theirs", "torn"]],
  ])("is left to it, and read on by it: it %s", async (_name, parts) => {
    await using other = await StoreFixture.create();
    await other.recordAndClose(3);
    await fixture.record(store, 2);
    const texts: Readonly<Record<string, string>> = {
      ours: await mirrorText(),
      theirs: await readFile(other.mirror, "utf8"),
      torn: '{"id":"',
    };
    const usual = parts.map((part) => texts[part]).join("");
    await writeFile(fixture.mirror, usual);
    await fixture.record(store, 1);
    await fixture.record(store, 1);
    expect(await mirrorText()).toBe(usual);
    await expectSound(4);
    expect(await recovered()).toEqual([]);
    expect(fixture.warnings).toEqual([expect.stringContaining("stays as it is")]);
  });

  it.each<[string, string[]]>([
    ["after it", ["theirs", "ours", "ours"]],
    ["before it", ["ours", "theirs"]],
    ["before one made-up beginning", ["ours", "madeUp"]],
    ["between two", ["madeUp", "ours", "madeUp"]],
  ])("is none when a record of ours stands %s: it is kept, and written anew in its place", async (_name, parts) => {
    await using other = await StoreFixture.create();
    await other.recordAndClose(3);
    await fixture.record(store, 2);
    const theirs = await readFile(other.mirror, "utf8");
    const texts: Readonly<Record<string, string>> = {
      ours: await mirrorText(),
      theirs,
      madeUp: theirs.slice(0, theirs.indexOf("\n") + 1),
    };
    const mixed = parts.map((part) => texts[part]).join("");
    await writeFile(fixture.mirror, mixed);
    await fixture.record(store, 1);
    await expectSound(3);
    expect(await recovered()).toEqual([mixed]);
    expect(await readdir(dirname(fixture.mirror))).toEqual(["agent_trace.jsonl"]);
    expect(fixture.warnings).toEqual([expect.stringContaining("was changed")]);
  });

  it("is hidden from git together with ours beside it, also after a crash between making and listing that", async () => {
    await using other = await StoreFixture.create();
    await other.recordAndClose(1);
    execFileSync("git", ["init", "-q"], { cwd: fixture.root });
    const status = () => execFileSync("git", ["status", "--porcelain"], { cwd: fixture.root, encoding: "utf8" });
    const exclude = join(fixture.root, ".git", "info", "exclude");
    await mkdir(dirname(fixture.mirror));
    await writeFile(fixture.mirror, await readFile(other.mirror));
    // Nothing can be listed: as if the process had died before it was.
    await rename(exclude, `${exclude}.away`);
    await mkdir(exclude);
    await fixture.record(store, 1);
    expect(await readdir(dirname(fixture.mirror))).toHaveLength(2);
    await rm(exclude, { recursive: true });
    await rename(`${exclude}.away`, exclude);
    await store[Symbol.asyncDispose]();

    await fixture.recordAndClose(1);
    expect(status()).toBe("");
    // Who takes the line out wants the ledger tracked.
    await writeFile(exclude, "");
    store = await fixture.open();
    await fixture.record(store, 1);
    expect(await readFile(exclude, "utf8")).toBe("");
  });
});
