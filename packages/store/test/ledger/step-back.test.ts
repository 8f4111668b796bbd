import { cp, open, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rotateLedgerKey } from "#audit/ledger-key-rotation";
import { repairWorkspaceLedger } from "#audit/ledger-repair";
import { verifyWorkspaceLedger } from "#audit/ledger-verify";
import { storeMarkFile } from "#database/store-mark";
import { acceptRollback } from "#ledger/accept-rollback";
import { ledgerHeadFile } from "#ledger/ledger-head-file";
import { purgeMemory } from "#purge/purge-memory";
import type { Store } from "#sqlite/store";
import { entryOf, StoreFixture } from "../sqlite/store-fixture.ts";

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.create();
});
afterEach(() => fixture[Symbol.asyncDispose]());

/** Copies of everything as it once was, to be put back in part. */
class OlderDay {
  readonly #at: string;

  static async keep(): Promise<OlderDay> {
    const day = new OlderDay(join(fixture.directory, "older"));
    await cp(fixture.stateDir, join(day.#at, "state"), { recursive: true });
    await cp(fixture.mirror, join(day.#at, "mirror"));
    return day;
  }

  private constructor(at: string) {
    this.#at = at;
  }

  async putBack(...what: readonly ("database" | "heads" | "keys" | "mirror")[]): Promise<void> {
    for (const each of what) {
      switch (each) {
        case "database":
          await removeDatabase();
          await cp(join(this.#at, "state", "gennai.db"), database());
          break;
        case "mirror":
          await cp(join(this.#at, "mirror"), fixture.mirror);
          break;
        default:
          await rm(join(fixture.stateDir, each), { recursive: true });
          await cp(join(this.#at, "state", each), join(fixture.stateDir, each), { recursive: true });
      }
    }
  }
}

function database(): string {
  return join(fixture.stateDir, "gennai.db");
}

async function removeDatabase(): Promise<void> {
  for (const end of ["", "-wal", "-shm"]) await rm(`${database()}${end}`, { force: true });
}

const location = () => ({ workspaceRoot: fixture.root, stateDir: fixture.stateDir });
const verify = () => verifyWorkspaceLedger(location());
const appending = (store: Store) =>
  store.log.append("s", { events: [], ledger: [entryOf(99)], durable: true }, { seq: 0, epoch: 1 });

/** All bytes outside of the database that testify. */
async function evidence(): Promise<readonly string[]> {
  const heads = (await readdir(join(fixture.stateDir, "heads")).catch(() => [])).filter((name) =>
    name.endsWith(".json"),
  );
  const files = [
    ...heads.map((name) => join(fixture.stateDir, "heads", name)),
    storeMarkFile(fixture.stateDir),
    fixture.mirror,
  ];
  return Promise.all(files.map((file) => readFile(file, "utf8").catch(() => "")));
}

/** What is done to three records of an older day and three newer ones, and which records the ledger has after the acceptance. */
const cases: readonly [string, (day: OlderDay) => Promise<unknown>, records: number][] = [
  ["an older database", (day) => day.putBack("database"), 4],
  ["an older database and file", (day) => day.putBack("database", "mirror"), 4],
  ["an older database and head", (day) => day.putBack("database", "heads"), 4],
  ["an older database, head and file", (day) => day.putBack("database", "heads", "mirror"), 4],
  ["an older state directory", (day) => day.putBack("database", "heads", "keys"), 4],
  [
    "an older database, and no heads",
    async (day) => {
      await day.putBack("database", "mirror");
      await rm(join(fixture.stateDir, "heads"), { recursive: true });
    },
    4,
  ],
  ["no head", () => rm(ledgerHeadFile(fixture.stateDir, fixture.root)), 7],
  ["no mark", () => rm(storeMarkFile(fixture.stateDir)), 7],
  ["a head that says something else", () => writeFile(ledgerHeadFile(fixture.stateDir, fixture.root), "{}"), 7],
  [
    "a mark that says something else",
    async () => {
      const file = storeMarkFile(fixture.stateDir);
      await writeFile(file, (await readFile(file, "utf8")).replace(/"commits":\d+/, '"commits":1'));
    },
    7,
  ],
];

describe.each(cases)("%s", (_name, spoil, recordsAfter) => {
  it("is seen, and nothing is signed until somebody accepts it; then the ledger tells", async () => {
    await fixture.recordAndClose(3);
    const day = await OlderDay.keep();
    await fixture.recordAndClose(3);
    expect(await verify()).toMatchObject({ status: "ok", records: 6, rollbacks: [] });
    await spoil(day);
    const before = await evidence();

    expect(await verify()).toMatchObject({ status: "rolled_back" });
    {
      await using store = await fixture.open();
      expect(fixture.warnings).toEqual([expect.stringContaining("is not what was signed")]);
      expect(store.isForward).toBe(false);
      expect(() => store.assertForward()).toThrow("accept-rollback");
      await expect(appending(store)).rejects.toMatchObject({ code: "rolled_back" });
      await store.flushLedgers();
    }
    await expect(rotateLedgerKey({ stateDir: fixture.stateDir, now: Date.now })).rejects.toMatchObject({
      code: "rolled_back",
    });
    await expect(purgeMemory({ ...location() })).rejects.toMatchObject({ code: "rolled_back" });
    await expect(repairWorkspaceLedger(location())).rejects.toMatchObject({ code: "rolled_back" });
    expect(await evidence()).toEqual(before);
    expect(await verify()).toMatchObject({ status: "rolled_back" });

    const accepted = await acceptRollback({ stateDir: fixture.stateDir, now: () => 1_000 });
    expect(accepted).toMatchObject({ warnings: [] });
    expect(accepted.stepBacks.length).toBeGreaterThan(0);
    const report = await verify();
    expect(report).toMatchObject({ status: "ok", records: recordsAfter });
    fixture.warnings.length = 0;
    {
      await using store = await fixture.open();
      await appending(store);
    }
    expect(fixture.warnings).toEqual([]);
    expect(await verify()).toMatchObject({ status: "ok", records: recordsAfter + 1, rollbacks: report.rollbacks });
    expect(await acceptRollback({ stateDir: fixture.stateDir, now: () => 2_000 })).toMatchObject({ stepBacks: [] });
  });
});

it("says from where to where, and keeps the head that was signed, in the ledger and beside it", async () => {
  await fixture.recordAndClose(3);
  const day = await OlderDay.keep();
  await fixture.recordAndClose(3);
  const head: unknown = JSON.parse(await readFile(ledgerHeadFile(fixture.stateDir, fixture.root), "utf8"));
  const file = await readFile(fixture.mirror, "utf8");
  await day.putBack("database");
  const { kept } = await acceptRollback({ stateDir: fixture.stateDir, now: () => 1_000 });
  expect((await verify()).rollbacks).toEqual([{ seq: 4, from: 6, to: 3 }]);
  const newest: unknown = JSON.parse((await readFile(fixture.mirror, "utf8")).trim().split("\n").at(-1) ?? "");
  expect(newest).toMatchObject({ metadata: { kind: "rollback", details: { from: 6, to: 3, head } } });
  const names = await readdir(kept);
  const heads = await Promise.all(
    names.map(async (name): Promise<unknown> => JSON.parse(await readFile(join(kept, name), "utf8"))),
  );
  expect(heads).toContainEqual(head);
  const recovered = join(fixture.stateDir, "recovered");
  const copies = await Promise.all((await readdir(recovered)).map((name) => readFile(join(recovered, name), "utf8")));
  expect(copies).toEqual([file]);
});

it("a database that is gone: its ledger begins with what was lost", async () => {
  await fixture.recordAndClose(3);
  await removeDatabase();
  expect(await verify()).toMatchObject({ status: "rolled_back" });
  {
    await using store = await fixture.open();
    await expect(appending(store)).rejects.toMatchObject({ code: "rolled_back" });
  }
  await acceptRollback({ stateDir: fixture.stateDir, now: () => 1_000 });
  {
    await using store = await fixture.open();
    await appending(store);
  }
  expect(await verify()).toMatchObject({ status: "ok", records: 2, rollbacks: [{ seq: 1, from: 3, to: 0 }] });
});

it("the newer database put back again: all is well, and nothing reports it", async () => {
  await fixture.recordAndClose(3);
  const day = await OlderDay.keep();
  await fixture.recordAndClose(3);
  const newer = await readFile(database());
  await day.putBack("database");
  await (await fixture.open())[Symbol.asyncDispose]();
  await removeDatabase();
  await writeFile(database(), newer);
  fixture.warnings.length = 0;
  await fixture.recordAndClose(1);
  expect(fixture.warnings).toEqual([]);
  expect(await verify()).toMatchObject({ status: "ok", records: 7, rollbacks: [] });
});

it("all of it put back together is not seen here: only a head that somebody else keeps shows it", async () => {
  await fixture.recordAndClose(3);
  const day = await OlderDay.keep();
  await fixture.recordAndClose(3);
  await day.putBack("database", "heads", "keys", "mirror");
  expect(await verify()).toMatchObject({ status: "ok", records: 3 });
});

it("an older database put in place of the one that a server uses, is seen before it signs", async () => {
  await fixture.recordAndClose(3);
  await using store = await fixture.open();
  await fixture.record(store, 1);
  const head = await readFile(ledgerHeadFile(fixture.stateDir, fixture.root), "utf8");
  await writeFile(ledgerHeadFile(fixture.stateDir, fixture.root), head.replace(/"seq":4/, '"seq":9'));
  await fixture.record(store, 1);
  expect(fixture.warnings).toEqual([expect.stringContaining("is not what was signed")]);
  await expect(appending(store)).rejects.toMatchObject({ code: "rolled_back" });
});

/** What is left of a process that was killed: its commits stand in the write-ahead log only. */
async function killedAfter(work: (store: Store) => Promise<void>): Promise<void> {
  const copy = join(fixture.directory, "killed");
  {
    await using store = await fixture.open();
    await work(store);
    await store.flushLedgers();
    await cp(fixture.stateDir, copy, { recursive: true });
  }
  await rm(fixture.stateDir, { recursive: true });
  await cp(copy, fixture.stateDir, { recursive: true });
}

const log = () => `${database()}-wal`;
const damages: readonly [string, () => Promise<unknown>][] = [
  ["cut in half", async () => truncate(log(), Math.floor((await readFile(log())).length / 2))],
  ["deleted", () => rm(log())],
  ["emptied", () => truncate(log(), 0)],
  [
    "with flipped bits",
    async () => {
      await using file = await open(log(), "r+");
      const bytes = Buffer.alloc(1);
      const at = Math.floor((await file.stat()).size / 3);
      await file.read(bytes, 0, 1, at);
      await file.write(Buffer.from([(bytes[0] ?? 0) ^ 1]), 0, 1, at);
    },
  ],
];

describe.each(damages)("a write-ahead log %s", (_name, damage) => {
  it("is seen by the ledger", async () => {
    await fixture.recordAndClose(1);
    await killedAfter((store) => fixture.record(store, 20));
    expect(await verify()).toMatchObject({ status: "ok", records: 21 });
    await damage();
    await using store = await fixture.open();
    expect(store.isForward).toBe(false);
    expect(await verify()).toMatchObject({ status: "rolled_back" });
  });

  it("is seen also when it held nothing but sessions", async () => {
    await fixture.recordAndClose(1);
    await killedAfter(async (store) => {
      for (const name of "abcdefghij") {
        await store.log.create({ sessionId: name, workspaceRoot: fixture.root, time: 1 });
        const draft = {
          turnId: "t",
          itemId: "",
          time: 2,
          event: { type: "text-delta", text: "x".repeat(5_000) },
        } as const;
        await store.log.append(name, { events: [draft], ledger: [], durable: true }, { seq: 0, epoch: 1 });
      }
    });
    expect(await verify()).toMatchObject({ status: "ok", records: 1 });
    await damage();
    expect(await verify()).toMatchObject({ status: "rolled_back" });
    await using store = await fixture.open();
    expect(store.isForward).toBe(false);
    await expect(appending(store)).rejects.toMatchObject({ code: "rolled_back" });
  });
});
