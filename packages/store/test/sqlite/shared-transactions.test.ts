import { join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { StoreDatabase } from "#database/database";
import { integerOf } from "#database/row";
import { SharedTransactions } from "#sqlite/shared-transactions";
import { StoreFixture } from "./store-fixture.ts";

let fixture: StoreFixture;
let database: StoreDatabase;
let synced = 0;
beforeEach(async () => {
  fixture = await StoreFixture.create();
  database = await StoreDatabase.open(join(fixture.directory, "gennai.db"));
  database.prepare("CREATE TABLE notes (text TEXT PRIMARY KEY) STRICT").run();
  synced = 0;
  database.countCommits({ count: () => undefined, counted: () => (synced += 1) });
});
afterEach(async () => {
  database[Symbol.dispose]();
  await fixture[Symbol.asyncDispose]();
});

function writing(text: string): () => string {
  return () => {
    database.prepare("INSERT INTO notes (text) VALUES (?)").run(text);
    return text;
  };
}

function kept(): number {
  const row = database.prepare("SELECT count(*) AS kept FROM notes").get();
  return row === undefined ? 0 : integerOf(row, "kept");
}

it("syncs once for all that come together, where one of them needs it", async () => {
  const shared = new SharedTransactions(database);
  const all = ["a", "b", "c"].map((text) => shared.run({ durable: text === "b" }, writing(text)));
  expect(kept()).toBe(0);
  expect(await Promise.all(all)).toEqual(["a", "b", "c"]);
  expect([kept(), synced]).toEqual([3, 1]);
  await shared.run({ durable: false }, writing("d"));
  expect([kept(), synced]).toEqual([4, 1]);
});

it("keeps out only what cannot go in", async () => {
  const shared = new SharedTransactions(database);
  const all = ["a", "a", "b"].map((text) => shared.run({ durable: true }, writing(text)));
  const ends = await Promise.allSettled(all);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(kept()).toBe(2);
});

it("keeps what a full disk has room for, and nothing of what it refused", async () => {
  const { page_count: pages } = database.prepare("PRAGMA page_count").get() ?? {};
  database.prepare(`PRAGMA max_page_count = ${Number(pages) + 8}`).get();
  const shared = new SharedTransactions(database);
  // Every second one is larger than all the room there is.
  const texts = Array.from({ length: 8 }, (_, number) => `${number}`.padEnd(number % 2 === 0 ? 10 : 100_000, "."));
  const ends = await Promise.allSettled(texts.map((text) => shared.run({ durable: true }, writing(text))));
  expect(ends).toEqual(
    texts.map((value, number) =>
      number % 2 === 0
        ? { status: "fulfilled", value }
        : { status: "rejected", reason: expect.objectContaining({ code: "disk_full" }) },
    ),
  );
  database[Symbol.dispose]();
  database = await StoreDatabase.open(join(fixture.directory, "gennai.db"));
  const rows = database.prepare("SELECT text FROM notes ORDER BY text").all();
  expect(rows.map(({ text }) => text)).toEqual(texts.filter((_, number) => number % 2 === 0));
});

it("runs what waits when it is told to, and once", async () => {
  const shared = new SharedTransactions(database);
  const one = shared.run({ durable: true }, writing("a"));
  shared.runAll();
  expect([kept(), synced]).toEqual([1, 1]);
  await one;
  await nextTick();
  expect(synced).toBe(1);
});
