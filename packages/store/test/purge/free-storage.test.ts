import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import { isDamaged, layerDirectory, makeOwner, removeLayer } from "@gennai/stage/layer/layer-files";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkpointDirectory, WorkspaceCheckpoints } from "#checkpoints/workspace-checkpoints";
import { freeStorage } from "#purge/free-storage";
import { bytesOf, lastStorageUse, measureStorage } from "#purge/storage-use";
import { StoreFixture } from "../sqlite/store-fixture.ts";

const mebibyte = 1024 ** 2;
const day = 24 * 60 * 60_000;
const now = Date.now();
let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.create();
  await fixture.recordAndClose(1);
});
afterEach(() => fixture[Symbol.asyncDispose]());

/** Builds of a session, 4 MiB of them. @param idle days since a command saw them */
function build(session: string, idle: number): string {
  const { dev, ino } = statSync(fixture.root);
  const { place } = makeOwner(fixture.stateDir, { session, root: { path: fixture.root, device: dev, inode: ino } });
  mkdirSync(join(place, "base", "dist"));
  writeFileSync(join(place, "base", "dist", "bundle.js"), Buffer.alloc(4 * mebibyte, "x"));
  const used = new Date(now - idle * day);
  utimesSync(join(layerDirectory(fixture.stateDir, session), "owner.json"), used, used);
  return session;
}

function kept(sessions: readonly string[]): readonly string[] {
  return sessions.filter((session) => existsSync(layerDirectory(fixture.stateDir, session)));
}

test("builds that were not used for 14 days go, all others stay where there is room", async () => {
  const sessions = [build("old", 15), build("recent", 13), build("new", 0)];
  const freed = await freeStorage(fixture.stateDir, { mostBytes: 2 * 1024 * mebibyte, now });
  expect(kept(sessions)).toEqual(["recent", "new"]);
  // The database may take a little more meanwhile.
  expect(freed && bytesOf(freed.before) - bytesOf(freed.after)).toBeGreaterThan(3 * mebibyte);
  expect(lastStorageUse(fixture.stateDir)).toEqual(freed?.after);
});

test("beyond the bound builds go that were used longest ago, until it is met; those of the last day stay", async () => {
  const sessions = [build("today", 0.5), build("second", 3), build("first", 5), build("third", 2)];
  const all = bytesOf(await measureStorage(fixture.stateDir, { now }));
  await freeStorage(fixture.stateDir, { mostBytes: all - 5 * mebibyte, now });
  expect(kept(sessions)).toEqual(["today", "third"]);
  await freeStorage(fixture.stateDir, { mostBytes: 0, now });
  expect(kept(sessions)).toEqual(["today"]);
  await freeStorage(fixture.stateDir, { mostBytes: 0, idleMs: 0, now: now + 1 });
  expect(kept(sessions)).toEqual([]);
});

test("the builds of a session at work, and those that a command sees, stay", async () => {
  const sessions = [build("at work", 20), build("seen", 20), build("idle", 20)];
  const turn = new ProcessLocks(join(fixture.stateDir, "locks")).tryAcquire("session at work", "runs a turn");
  // A process that keeps a mount of a layer has its path in its command line.
  const keeper = spawn("/bin/sh", ["-c", "echo; cat", "sh", layerDirectory(fixture.stateDir, "seen")]);
  await once(keeper.stdout, "data");
  await freeStorage(fixture.stateDir, { mostBytes: 0, now });
  expect(kept(sessions)).toEqual(["at work", "seen"]);
  keeper.stdin.end();
  await once(keeper, "exit");
  if (turn.type === "acquired") turn.lock[Symbol.dispose]();
  await freeStorage(fixture.stateDir, { mostBytes: 0, now });
  expect(kept(sessions)).toEqual([]);
});

test("a removal that a kill cuts off leaves no half of the builds, and is gone on with", async () => {
  const session = build("cut off", 20);
  const directory = layerDirectory(fixture.stateDir, session);
  const removing = removeLayer(fixture.stateDir, session, fixture.root);
  // At this moment something is left, which is nobody's layer any more.
  expect([existsSync(join(directory, "files", "base")), isDamaged(directory)]).toEqual([true, true]);
  await removing;
  build(session, 20);
  writeFileSync(join(directory, "owner.json"), "");
  await freeStorage(fixture.stateDir, { mostBytes: 2 * 1024 * mebibyte, now });
  expect(kept([session])).toEqual([]);
});

test("snapshots go with the last undo that could use them, those of workspaces in use stay", async () => {
  writeFileSync(join(fixture.root, "a.txt"), "a\n");
  const place = { stateDir: fixture.stateDir, root: fixture.root };
  await using checkpoints = new WorkspaceCheckpoints(place);
  await checkpoints.open("s", new AbortController().signal);
  const directory = checkpointDirectory(place);
  await freeStorage(fixture.stateDir, { mostBytes: 0, now: now + 13 * day });
  expect(existsSync(directory)).toBe(true);
  await freeStorage(fixture.stateDir, { mostBytes: 0, now: now + 15 * day });
  expect(existsSync(directory)).toBe(false);
});

test("a tenant's contents count too", async () => {
  const blobs = join(fixture.stateDir, "tenants", "acme", "blobs");
  mkdirSync(blobs, { recursive: true });
  writeFileSync(join(blobs, "blob"), Buffer.alloc(mebibyte, "x"));
  const { parts } = await measureStorage(fixture.stateDir, { now });
  expect(parts.contents).toBeGreaterThanOrEqual(mebibyte);
  expect(parts.sessions).toBeGreaterThan(0);
});

test("two processes do not free at once, and one that is stopped rejects", async () => {
  const sessions = [build("s", 20)];
  const other = new ProcessLocks(join(fixture.stateDir, "locks")).tryAcquire("storage", "frees storage");
  expect(await freeStorage(fixture.stateDir, { mostBytes: 0, now })).toBeUndefined();
  if (other.type === "acquired") other.lock[Symbol.dispose]();
  const signal = AbortSignal.abort(new Error("the server ends"));
  await expect(freeStorage(fixture.stateDir, { mostBytes: 0, now, signal })).rejects.toThrow("the server ends");
  expect(kept(sessions)).toEqual(["s"]);
});
