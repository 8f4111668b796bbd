import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import { layerDirectory, makeOwner } from "@gennai/stage/layer/layer-files";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { repairWorkspaceLedger } from "#audit/ledger-repair";
import { verifyWorkspaceLedger } from "#audit/ledger-verify";
import { StoreDatabase } from "#database/database";
import { ownLedgerFileName } from "#ledger/file/ledger-file-name";
import { purgeMemory } from "#purge/purge-memory";
import { hasOld, purgeOld } from "#purge/purge-old";
import type { Store } from "#sqlite/store";
import { userMessage } from "../../../agent/test/user-message.ts";
import { entryOf, StoreFixture } from "../sqlite/store-fixture.ts";

const marker = "PLANTED-17-MILL-LANE";
let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.create();
});
afterEach(() => fixture[Symbol.asyncDispose]());

/** A session whose title, events, blob and ledger records all hold the text. */
async function work(
  store: Store,
  sessionId: string,
  text: string,
  {
    blobText = text,
    workspaceRoot = fixture.root,
  }: { readonly blobText?: string; readonly workspaceRoot?: string } = {},
): Promise<string> {
  if ((await store.log.head(sessionId)) === undefined) await store.log.create({ sessionId, workspaceRoot, time: 1 });
  await store.log.setTitle(sessionId, `Title ${text}`);
  const blob = await store.blobs.put(Buffer.from(`blob ${blobText}`.repeat(100)), "text/plain");
  const event: SessionEvent = userMessage(text, { images: [blob] });
  for (let index = 0; index < 20; index++) {
    const seq = (await store.log.head(sessionId))?.lastSeq ?? 0;
    const draft = { turnId: "t", itemId: "", time: 1, event };
    const entry = {
      ...entryOf(index),
      sessionId,
      details: { text },
      calls: [{ ...entryOf(index).calls[0], input: { text } }],
    };
    await store.log.append(sessionId, { events: [draft], ledger: [entry as never], durable: true }, { seq, epoch: 1 });
  }
  await store.flushLedgers();
  return blob.sha256;
}

/** Files of the state directory and of the workspace that hold a text, also in the middle of binary data. */
function holding(text: string, ...directories: readonly string[]): readonly string[] {
  const places = directories.length > 0 ? directories : [fixture.stateDir, fixture.root];
  return places.flatMap((directory) =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => file.includes(text) || readFileSync(file).includes(text)),
  );
}

/** Where the ledger would be beside the usual file. */
function ownPath(ledger: string): string {
  const first = JSON.parse(ledger.split("\n")[0] ?? "");
  return join(dirname(fixture.mirror), ownLedgerFileName(first.metadata.hash));
}

function verify() {
  return verifyWorkspaceLedger({ workspaceRoot: fixture.root, stateDir: fixture.stateDir });
}

const request = () => ({ stateDir: fixture.stateDir, workspaceRoot: fixture.root, by: "ada" });

describe("purge", () => {
  test("seed 003 §9 purge: of a workspace leaves no byte, a chain that holds, and a tombstone", async () => {
    {
      await using store = await fixture.open();
      await work(store, "one", marker);
      await work(store, "other", marker);
      // A copy from when somebody changed the file, and what a command left in its temporary directory.
      writeFileSync(fixture.mirror, `${readFileSync(fixture.mirror, "utf8")}${marker}\n`);
      await fixture.record(store, 1);
    }
    expect(holding(marker).length).toBeGreaterThan(2);
    expect(await purgeMemory(request())).toEqual({ sessions: 3, events: 40, records: 41, blobs: 1, notes: 0 });
    expect(holding(marker)).toEqual([]);
    expect(await verify()).toMatchObject({
      status: "ok",
      records: 42,
      purged: 41,
      compared: { head: true, store: true },
    });
    const last = JSON.parse(readFileSync(fixture.mirror, "utf8").trim().split("\n").at(-1) ?? "");
    expect(last.metadata).toMatchObject({
      kind: "purge",
      session_id: "",
      details: { scope: "workspace", by: "ada", records: [[1, 41]], removed: { sessions: 3, events: 40, blobs: 1 } },
    });
    expect(Date.parse(last.timestamp)).toBeGreaterThan(Date.now() - 60_000);
  });

  test("of a workspace forgets what was done in its copies for attempts, which are gone, and nothing beside them", async () => {
    const beside = (name: string) => join(dirname(fixture.root), name, "1", basename(fixture.root));
    {
      await using store = await fixture.open();
      await work(store, "tried", marker, { workspaceRoot: beside(".gennai-attempts-0123abcd") });
      await work(store, "other", "kept", { workspaceRoot: beside(".gennai-attempts-0123abcd-not") });
    }
    expect(await purgeMemory(request())).toMatchObject({ sessions: 2, events: 20, blobs: 1 });
    expect(holding(marker)).toEqual([]);
    expect(holding("kept", fixture.stateDir).length).toBeGreaterThan(0);
  });

  test.each<[string, (ours: string, theirs: string) => void]>([
    [
      "a made-up beginning follows ours in the usual file",
      (ours, theirs) => writeFileSync(fixture.mirror, ours + theirs),
    ],
    ["a file of the name that we would move to is there", (ours) => writeFileSync(ownPath(ours), "")],
    [
      "the usual file was another's when we looked, and is ours again",
      (ours, theirs) => {
        writeFileSync(ownPath(ours), ours);
        writeFileSync(fixture.mirror, theirs + ours);
      },
    ],
  ])("leaves no byte in the workspace where %s", async (_name, spoil) => {
    await using other = await StoreFixture.create();
    await other.recordAndClose(1);
    const theirs = readFileSync(other.mirror, "utf8");
    {
      await using store = await fixture.open();
      await work(store, "one", marker);
      spoil(readFileSync(fixture.mirror, "utf8"), theirs);
      await fixture.record(store, 1);
    }
    expect(holding(marker, fixture.root)).not.toEqual([]);
    await purgeMemory(request());
    expect(holding(marker)).toEqual([]);
    expect(await verify()).toMatchObject({ status: "ok", records: 22, purged: 21 });
  });

  test("leaves another's records in the usual file as they are", async () => {
    await using other = await StoreFixture.create();
    await other.recordAndClose(2);
    const theirs = readFileSync(other.mirror, "utf8");
    mkdirSync(dirname(fixture.mirror));
    writeFileSync(fixture.mirror, theirs);
    {
      await using store = await fixture.open();
      await work(store, "s", marker);
    }
    const [own = ""] = holding(marker, fixture.root);
    const [first = "", second = ""] = readFileSync(own, "utf8").split("\n");
    writeFileSync(fixture.mirror, `${first}\n${theirs}${second}\n`);
    await purgeMemory(request());
    expect(holding(marker)).toEqual([]);
    const blank = (line: string) => " ".repeat(Buffer.byteLength(line));
    expect(readFileSync(fixture.mirror, "utf8")).toBe(`${blank(first)}\n${theirs}${blank(second)}\n`);
    expect(await verify()).toMatchObject({ status: "ok" });
  });

  test("of one session leaves the others whole", async () => {
    let shared = "";
    {
      await using store = await fixture.open();
      shared = await work(store, "s", marker, { blobText: "shared" });
      await work(store, "other", "KEPT-TEXT", { blobText: "shared" });
    }
    expect(await purgeMemory({ ...request(), sessionId: "s" })).toEqual({
      sessions: 1,
      events: 20,
      records: 20,
      blobs: 0,
      notes: 0,
    });
    expect(holding(marker)).toEqual([]);
    expect(holding("KEPT-TEXT").length).toBeGreaterThan(1);
    expect(await verify()).toMatchObject({ status: "ok", records: 41, purged: 20 });
    await using store = await fixture.open();
    expect(await store.blobs.get(shared)).toBeDefined();
    expect(await store.log.read("other", 0, 100)).toHaveLength(20);
    expect(await store.log.head("s")).toBeDefined();
    expect((await store.log.head("s"))?.lastSeq).toBe(0);
  });

  test("while a server has the store open, which goes on", async () => {
    await using store = await fixture.open();
    await work(store, "s", marker);
    await store.log.create({ sessionId: "next", workspaceRoot: fixture.root, time: 1 });
    await purgeMemory({ ...request(), sessionId: "s" });
    expect(holding(marker)).toEqual([]);
    await expect(
      store.log.append("s", { events: [], ledger: [entryOf(1)], durable: true }, { seq: 20, epoch: 1 }),
    ).rejects.toMatchObject({ code: "unknown_session" });
    await store.log.append("next", { events: [], ledger: [entryOf(1)], durable: true }, { seq: 0, epoch: 1 });
    await store.flushLedgers();
    expect(await verify()).toMatchObject({ status: "ok", records: 22, purged: 20 });
    expect(fixture.warnings).toEqual([]);
  });

  test("twice is once, and nothing to purge leaves no tombstone", async () => {
    await fixture.recordAndClose(3);
    await purgeMemory(request());
    const after = readFileSync(fixture.mirror, "utf8");
    expect(await purgeMemory(request())).toEqual({ sessions: 0, events: 0, records: 0, blobs: 0, notes: 0 });
    expect(readFileSync(fixture.mirror, "utf8")).toBe(after);
    await expect(purgeMemory({ ...request(), sessionId: "s" })).rejects.toMatchObject({ code: "unknown_session" });
    expect(await purgeMemory({ ...request(), stateDir: join(fixture.directory, "none") })).toEqual({
      sessions: 0,
      events: 0,
      records: 0,
      blobs: 0,
      notes: 0,
    });
  });

  test("is refused while one of the sessions is at work; nothing is gone", async () => {
    await fixture.recordAndClose(2);
    const locks = new ProcessLocks(join(fixture.stateDir, "locks"));
    const held = locks.tryAcquire("session s", "runs a turn");
    await expect(purgeMemory(request())).rejects.toMatchObject({ code: "busy" });
    expect(await verify()).toMatchObject({ status: "ok", records: 2, purged: 0 });
    if (held.type === "acquired") held.lock[Symbol.dispose]();
    expect(await purgeMemory(request())).toMatchObject({ records: 2 });
  });

  test("broken off after its transaction is finished by the next opening", async () => {
    let blob = "";
    {
      await using store = await fixture.open();
      blob = await work(store, "s", marker);
    }
    const before = readFileSync(fixture.mirror, "utf8");
    const copies = join(fixture.stateDir, "recovered");
    await purgeMemory({ ...request(), sessionId: "s" });
    // As a crash right after the transaction would have left it.
    writeFileSync(fixture.mirror, before);
    const file = join(fixture.stateDir, "blobs", blob.slice(0, 2), blob);
    writeFileSync(file, marker);
    {
      using database = await StoreDatabase.open(join(fixture.stateDir, "gennai.db"));
      const job = { workspaceRoot: fixture.root, sessionIds: ["s"], blobs: [blob], scanned: Date.now() + 1 };
      database.prepare("INSERT INTO purge_jobs (workspace, job) VALUES (1, ?)").run(JSON.stringify(job));
    }
    {
      await using _store = await fixture.open();
    }
    expect(holding(marker)).toEqual([]);
    expect(holding("purge_jobs").length).toBeGreaterThan(0);
    expect(() => statSync(copies)).toThrow();
    expect(await verify()).toMatchObject({ status: "ok", purged: 20 });
    expect(fixture.warnings).toEqual([]);
  });

  test("rubbish that nobody refers to goes with the workspace, what is young stays", async () => {
    await using store = await fixture.open();
    const old = await store.blobs.put(Buffer.from("old"), "text/plain");
    const young = await store.blobs.put(Buffer.from("young"), "text/plain");
    const file = join(fixture.stateDir, "blobs", old.sha256.slice(0, 2), old.sha256);
    utimesSync(file, new Date(0), new Date(0));
    expect(await purgeMemory(request())).toMatchObject({ blobs: 1 });
    expect(await store.blobs.get(old.sha256)).toBeUndefined();
    expect(await store.blobs.get(young.sha256)).toBeDefined();
  });

  test("temporary files of the sandbox", async () => {
    await fixture.recordAndClose(1);
    const { workspaceIdOf } = await import("@gennai/governance/ledger/ledger-record");
    const directory = join(fixture.stateDir, "sandbox", "1-2-3.1", "tmp", workspaceIdOf(fixture.root).slice(0, 16));
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "x"), marker);
    await purgeMemory(request());
    expect(holding(marker)).toEqual([]);
  });

  test("what git ignores of a session, and not that of another one", async () => {
    {
      await using store = await fixture.open();
      for (const session of ["s", "other"]) await work(store, session, "x");
    }
    const { dev, ino } = statSync(fixture.root);
    for (const session of ["s", "other"]) {
      const root = { path: fixture.root, device: dev, inode: ino };
      const { place } = makeOwner(fixture.stateDir, { session, root });
      mkdirSync(join(place, "base", "dist"));
      writeFileSync(join(place, "base", "dist", "x"), `${marker} ${session}`);
    }
    await purgeMemory({ ...request(), sessionId: "s" });
    expect(holding(`${marker} s`)).toEqual([]);
    expect(holding(marker, fixture.stateDir)).toHaveLength(1);
    await purgeMemory(request());
    expect(holding(marker, fixture.stateDir)).toEqual([]);
  });

  test("what nobody can tell the session of any more goes as well, wherever it is", async () => {
    {
      await using store = await fixture.open();
      await work(store, "s", "harmless");
    }
    const stat = statSync(fixture.root);
    const root = { path: fixture.root, device: stat.dev, inode: stat.ino };
    const directory = layerDirectory(fixture.stateDir, "s");
    const { place } = makeOwner(fixture.stateDir, { session: "s", root });
    const beside = join(dirname(fixture.root), `.gennai-layer-${basename(directory)}`);
    mkdirSync(beside);
    for (const each of [place, beside]) writeFileSync(join(each, "x"), marker);
    writeFileSync(join(directory, "owner.json"), "");
    await purgeMemory({ ...request(), sessionId: "s" });
    expect(holding(marker, fixture.stateDir, dirname(fixture.root))).toEqual([]);
  });

  test("what was purged does not come back by a repair", async () => {
    {
      await using store = await fixture.open();
      await work(store, "s", marker);
    }
    await purgeMemory(request());
    writeFileSync(fixture.mirror, "");
    await repairWorkspaceLedger({ workspaceRoot: fixture.root, stateDir: fixture.stateDir });
    expect(await verify()).toMatchObject({ status: "ok", purged: 20 });
    expect(holding(marker)).toEqual([]);
  });
});

test("of a policy's days, the sessions go that were not used for so long, and the chain still holds", async () => {
  const { stateDir, root } = fixture;
  const order = { by: "the policy acme", signal: new AbortController().signal };
  {
    await using store = await fixture.open();
    await work(store, "old", marker);
    // As old as the session: what is stored again later stays, because a turn may be about to name it.
    for (const file of holding(marker).filter((each) => each.includes("blobs"))) utimesSync(file, 0, 0);
    expect(hasOld(stateDir, 1)).toBe(false);
    expect(hasOld(stateDir, 2)).toBe(true);
    expect(await purgeOld(store.log, { ...order, before: 1 })).toEqual({ purged: 0, refusals: [] });
    {
      using _atWork = heldSession(stateDir, "old");
      // The fixture's own session goes.
      const busy = await purgeOld(store.log, { ...order, before: 2 });
      expect(busy).toEqual({ purged: 1, refusals: [expect.stringContaining("Session old is at work")] });
      expect(holding(marker)).not.toEqual([]);
    }
    expect(await purgeOld(store.log, { ...order, before: 2 })).toEqual({ purged: 1, refusals: [] });
  }
  expect(holding(marker)).toEqual([]);
  expect(await verifyWorkspaceLedger({ stateDir, workspaceRoot: root })).toMatchObject({ status: "ok" });
});

function heldSession(stateDir: string, id: string): Disposable {
  const attempt = new ProcessLocks(join(stateDir, "locks")).tryAcquire(`session ${id}`, "runs a turn");
  if (attempt.type === "held") throw new TypeError("It is held already.");
  return attempt.lock;
}
