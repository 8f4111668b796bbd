import { join } from "node:path";
import { StoreDatabase } from "@gennai/server/store/database";
import { expect, it } from "vitest";
import { StoreFixture } from "./store-fixture.ts";

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
