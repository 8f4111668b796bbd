import { join } from "node:path";
import { SqliteConnection } from "@gennai/machine/sqlite-connection";
import { expect, it } from "vitest";
import { StoreDatabase } from "#database/database";
import { StoreFixture } from "./sqlite/store-fixture.ts";

it("waits as long as it was told for another one's lock", async () => {
  await using fixture = await StoreFixture.create();
  const file = join(fixture.directory, "a.db");
  using holder = new SqliteConnection(file, { timeout: 0 });
  holder.exec("BEGIN EXCLUSIVE");
  for (const timeout of [0, 300]) {
    using other = new SqliteConnection(file, { timeout });
    const began = performance.now();
    expect(() => other.exec("BEGIN IMMEDIATE")).toThrow(/locked/);
    const waited = performance.now() - began;
    expect(waited >= 250).toBe(timeout === 300);
  }
});

it("is closed once, and says so", async () => {
  await using fixture = await StoreFixture.create();
  const connection = new SqliteConnection(join(fixture.directory, "a.db"), { timeout: 0 });
  expect(connection.isOpen).toBe(true);
  connection[Symbol.dispose]();
  connection[Symbol.dispose]();
  expect(connection.isOpen).toBe(false);
  expect(() => connection.exec("SELECT 1")).toThrow();
});

it("writes nothing where it was opened for reading", async () => {
  await using fixture = await StoreFixture.create();
  const file = join(fixture.directory, "a.db");
  using writer = new SqliteConnection(file, { timeout: 0 });
  writer.exec("CREATE TABLE t (x)");
  using reader = new SqliteConnection(file, { timeout: 0, readOnly: true });
  expect(() => reader.exec("INSERT INTO t VALUES (1)")).toThrow(/readonly/);
  expect(reader.prepare("SELECT count(*) AS n FROM t").get()).toEqual({ n: 0 });
});

it("tells why a transaction failed, also when SQLite has rolled it back already", async () => {
  await using fixture = await StoreFixture.create();
  using database = await StoreDatabase.open(join(fixture.directory, "gennai.db"));
  const insert = database.prepare("INSERT OR ROLLBACK INTO workspaces (root) VALUES ('/a')");
  expect(() => database.transaction({ durable: true }, () => [insert.run(), insert.run()])).toThrow(/UNIQUE/);
  expect(database.prepare("SELECT count(*) AS n FROM workspaces").get()).toEqual({ n: 0 });
  database.transaction({ durable: true }, () => insert.run());
  expect(database.prepare("SELECT count(*) AS n FROM workspaces").get()).toEqual({ n: 1 });
});
