import { readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { StoreDatabase } from "#database/database";
import { acquireFileLock } from "#database/file-lock";
import { StoreFixture } from "../sqlite/store-fixture.ts";

it("reports a full disk and keeps nothing of the transaction", async () => {
  await using fixture = await StoreFixture.create();
  using database = await StoreDatabase.open(join(fixture.directory, "gennai.db"));
  database.prepare("PRAGMA max_page_count = 20").get();
  const insert = database.prepare("INSERT INTO workspaces (root, preamble) VALUES (?, zeroblob(?))");
  const fill = (size: number): unknown =>
    database.transaction({ durable: true }, () => [insert.run("/a", 10), insert.run("/b", size)]);
  expect(() => fill(1_000_000)).toThrow(expect.objectContaining({ name: "StoreError", code: "disk_full" }));
  expect(database.prepare("SELECT count(*) AS n FROM workspaces").get()).toEqual({ n: 0 });
  fill(100);
  expect(database.prepare("SELECT count(*) AS n FROM workspaces").get()).toEqual({ n: 2 });
});

it("calls nothing durable after the disk did not take something, however the disk is then", async () => {
  await using fixture = await StoreFixture.create();
  const file = join(fixture.directory, "gennai.db");
  using database = await StoreDatabase.open(file);
  const insert = database.prepare("INSERT INTO workspaces (root) VALUES (?)");
  database.transaction({ durable: false }, () => insert.run("/a"));
  renameSync(`${file}-wal`, `${file}-lost`);
  const lost = { name: "StoreError", code: "io" };
  await expect(database.sync()).rejects.toMatchObject(lost);
  renameSync(`${file}-lost`, `${file}-wal`);
  await expect(database.sync()).rejects.toMatchObject(lost);
  expect(() => database.transaction({ durable: true }, () => insert.run("/b"))).toThrow(expect.objectContaining(lost));
});

it("sees commits of other connections, and only those", async () => {
  await using fixture = await StoreFixture.create();
  const file = join(fixture.directory, "gennai.db");
  using database = await StoreDatabase.open(file);
  using other = await StoreDatabase.open(file);
  const before = database.dataVersion();
  database.transaction({ durable: false }, () => database.prepare("INSERT INTO workspaces (root) VALUES ('/a')").run());
  expect(database.dataVersion()).toBe(before);
  other.transaction({ durable: true }, () => other.prepare("INSERT INTO workspaces (root) VALUES ('/b')").run());
  expect(database.dataVersion()).not.toBe(before);
});

/** Which of this process's locks the system knows on a file, as ranges. */
function locksOn(file: string): readonly string[] {
  const { ino } = statSync(file);
  const lines = readFileSync("/proc/locks", "utf8").split("\n");
  // Files of other file systems have the same numbers; this process has no lock on them.
  const ours = lines.filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `));
  return ours.map((line) => line.split(" ").slice(-2).join("-"));
}

// Without its lock, another process that closes the file takes itself for the last one and deletes the log that we write to.
it.runIf(process.platform === "linux")("keeps SQLite's lock on a file that is opened once more here", async () => {
  await using fixture = await StoreFixture.create();
  const file = join(fixture.directory, "gennai.db");
  const first = await StoreDatabase.open(file);
  const held = locksOn(file);
  expect(held).toHaveLength(1);
  (await StoreDatabase.open(file))[Symbol.dispose]();
  StoreDatabase.openReadOnly(file)?.[Symbol.dispose]();
  expect(locksOn(file)).toEqual(held);
  first[Symbol.dispose]();
  expect(locksOn(file)).toEqual([]);
});

it.runIf(process.platform === "linux")("keeps a lock between processes that this process asks for twice", async () => {
  await using fixture = await StoreFixture.create();
  const file = join(fixture.directory, "one.lock");
  using _lock = await acquireFileLock(file, { timeout: 0 });
  const held = locksOn(file);
  expect(held.length).toBeGreaterThan(0);
  await expect(acquireFileLock(file, { timeout: 0 })).rejects.toMatchObject({ code: "busy" });
  expect(locksOn(file)).toEqual(held);
});
