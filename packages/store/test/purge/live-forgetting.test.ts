import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { verifyWorkspaceLedger } from "#audit/ledger-verify";
import { StoreDatabase } from "#database/database";
import { createPurgeJobs, pendingPurges } from "#database/purge-job-table";
import { openLedgers } from "#ledger/open-ledgers";
import { forgetSessions, storedSessions } from "#purge/forget-sessions";
import { LiveForgetting } from "#purge/live-forgetting";
import { awaitsCompaction, finishPurges } from "#purge/purge-jobs";
import type { Store } from "#sqlite/store";
import { userMessage } from "../../../agent/test/user-message.ts";
import { entryOf, StoreFixture } from "../sqlite/store-fixture.ts";

const marker = "PLANTED-17-MILL-LANE";
let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.create();
});
afterEach(() => fixture[Symbol.asyncDispose]());

/** A session whose title, events, blobs and ledger records hold the text. */
async function work(store: Store, sessionId: string, text: string, shared = "shared"): Promise<void> {
  await store.log.create({ sessionId, workspaceRoot: fixture.root, time: Date.now() });
  await store.log.setTitle(sessionId, text);
  const images = [
    await store.blobs.put(Buffer.from(`blob ${text}`.repeat(100)), "text/plain"),
    await store.blobs.put(Buffer.from(shared), "text/plain"),
  ];
  const event: SessionEvent = userMessage(text, { images });
  const ledger = [{ ...entryOf(1), sessionId, details: { text } }];
  const events = [{ turnId: "t", itemId: "", time: Date.now() + 1, event }];
  await store.log.append(sessionId, { events, ledger, durable: true }, { seq: 0, epoch: 1 });
}

function holding(text: string): readonly string[] {
  return [fixture.stateDir, fixture.root].flatMap((directory) =>
    readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => readFileSync(file).includes(text)),
  );
}

const verify = () => verifyWorkspaceLedger({ workspaceRoot: fixture.root, stateDir: fixture.stateDir });

test("a session that is deleted while the store is in use leaves no byte, and others all they need", async () => {
  {
    await using store = await fixture.open();
    await work(store, "one", marker);
    await work(store, "other", "kept text");
    await store.flushLedgers();
    expect(holding(marker).length).toBeGreaterThan(2);
    expect(await store.log.forget("one", "ada")).toEqual({ events: 1, records: 1, blobs: 1 });
    expect(holding(marker)).toEqual([]);
    expect((await store.log.list({ limit: 9 })).map(({ sessionId }) => sessionId)).toEqual(["other", "s"]);
    // The store goes on: the ledger's file too.
    await work(store, "third", "more text");
    await store.flushLedgers();
    expect(holding("shared").some((file) => file.includes("/blobs/"))).toBe(true);
  }
  expect(await verify()).toMatchObject({ status: "ok", records: 4, purged: 1, compared: { head: true, store: true } });
  const tombstone = readFileSync(fixture.mirror, "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { metadata: { kind: string } }).metadata)
    .find(({ kind }) => kind === "purge");
  expect(tombstone).toMatchObject({ session_id: "", details: { scope: "session", by: "ada", records: [[1, 1]] } });
});

test("a content that another session is about to name stays", async () => {
  await using store = await fixture.open();
  await work(store, "one", marker);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const again = await store.blobs.put(Buffer.from(`blob ${marker}`.repeat(100)), "text/plain");
  expect(await store.log.forget("one", "ada")).toMatchObject({ blobs: 1 });
  expect(await store.blobs.get(again.sha256)).toBeDefined();
});

/** Forgets session `one`; what is left of it, `finish` does. */
async function forgotten(
  scope: "session" | "workspace",
  body: (database: StoreDatabase, finish: () => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const { root, stateDir } = fixture;
  using database = await StoreDatabase.open(join(stateDir, "gennai.db"));
  createPurgeJobs(database);
  await using ledgers = await openLedgers(database, { stateDir, onWarning: () => undefined });
  const { table, mirror } = ledgers;
  const parts = { database, table, mirror, stateDir };
  const workspace = table.find(root) ?? 0;
  const sessions = storedSessions(database, workspace, "one");
  await forgetSessions(parts, { workspace, workspaceRoot: root, sessions, scope, by: "ada", time: 1 });
  await body(database, () => finishPurges(parts));
}

/** What `work` stores for this text. */
const contentOf = (text: string) => Buffer.from(`blob ${text}`.repeat(100));

function ageBlobs(seconds: number): void {
  for (const file of holding("").filter((each) => each.includes("/blobs/"))) {
    const time = statSync(file).mtimeMs / 1_000 - seconds;
    utimesSync(file, time, time);
  }
}

test.each(["stored and named it", "stored it and is about to name it", "named it, having stored it earlier,"])(
  "a content of a forgotten session stays where another session %s before its removal",
  async (how) => {
    await using store = await fixture.open();
    await work(store, "one", marker);
    const { sha256 } = await store.blobs.put(contentOf(marker), "text/plain");
    await forgotten("session", async (_database, finish) => {
      if (how.startsWith("stored it")) await store.blobs.put(contentOf(marker), "text/plain");
      else await work(store, "other", marker);
      if (how.startsWith("named")) ageBlobs(60);
      await finish();
    });
    expect(await store.blobs.get(sha256)).toEqual(contentOf(marker));
  },
);

test("a content that was removed, and is stored again before the purge is tried again, stays", async () => {
  await using store = await fixture.open();
  await work(store, "one", marker);
  const { sha256 } = await store.blobs.put(contentOf(marker), "text/plain");
  await forgotten("workspace", async (database, finish) => {
    const sandboxes = join(fixture.stateDir, "sandbox");
    rmSync(sandboxes, { recursive: true, force: true });
    writeFileSync(sandboxes, "in the way");
    await expect(finish()).rejects.toThrow();
    expect(await store.blobs.get(sha256)).toBeUndefined();
    expect(pendingPurges(database)).toMatchObject([{ job: { blobs: [] } }]);
    rmSync(sandboxes);
    mkdirSync(sandboxes);
    await store.blobs.put(contentOf(marker), "text/plain");
    // As a clock that was put back would have it.
    ageBlobs(60);
    await finish();
    expect(pendingPurges(database)).toEqual([]);
  });
  expect(await store.blobs.get(sha256)).toEqual(contentOf(marker));
});

test("what a kill after the transaction left goes when the store is opened next", async () => {
  {
    await using store = await fixture.open();
    await work(store, "one", marker);
    await store.flushLedgers();
  }
  await forgotten("session", async (database) => {
    expect(pendingPurges(database)).toHaveLength(1);
  });
  expect(holding(marker)).not.toEqual([]);
  {
    await using store = await fixture.open();
    expect(await store.log.list({ limit: 9 })).toMatchObject([{ sessionId: "s" }]);
    // A process that overwrites nothing freed the rows: their pages go with the next quiet time, or at the end.
    expect(holding(marker).filter((file) => !file.endsWith("/gennai.db"))).toEqual([]);
  }
  expect(holding(marker)).toEqual([]);
  expect(await verify()).toMatchObject({ status: "ok", purged: 1 });
});

test("the database is written anew once for many that were deleted, when nobody writes, and then no byte is left", async () => {
  const { root, stateDir } = fixture;
  const gone = ["one", "two", "three"];
  {
    await using store = await fixture.open();
    for (const id of gone) {
      await work(store, id, `${marker} ${id}`.repeat(20_000), id);
      // What stood there before is left in the file by a row that changes.
      await store.log.setTitle(id, "short");
    }
    await work(store, "kept", "kept text");
  }
  using database = await StoreDatabase.open(join(stateDir, "gennai.db"));
  await using ledgers = await openLedgers(database, { stateDir, onWarning: () => undefined });
  const { table, mirror, watch } = ledgers;
  const warnings: string[] = [];
  const prepare = vi.spyOn(database, "prepare");
  const compactions = () => prepare.mock.calls.filter(([sql]) => sql === "VACUUM").length;
  const onWarning = (text: string) => void warnings.push(text);
  // Longer than a busy machine takes between two writes.
  const pace = { quietMs: 1_500, latestMs: 60_000 };
  await using live = new LiveForgetting({ database, table, mirror, watch, stateDir, onWarning, pace });
  const write = () => database.prepare("UPDATE sessions SET title = 'written' WHERE id = 'kept'").run();
  for (const sessionId of gone) {
    const head = { sessionId, workspaceRoot: root } as Parameters<typeof live.forget>[0];
    expect((await live.forget(head, "ada")).events).toBe(1);
    write();
  }
  for (let index = 0; index < 15; index++) {
    write();
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  expect(compactions()).toBe(0);
  expect(awaitsCompaction(database)).toBe(true);
  const large = statSync(join(stateDir, "gennai.db")).size;
  await vi.waitFor(() => expect(awaitsCompaction(database)).toBe(false));
  expect(compactions()).toBe(1);
  expect(pendingPurges(database)).toEqual([]);
  expect(holding(marker)).toEqual([]);
  expect(statSync(join(stateDir, "gennai.db")).size).toBeLessThan(large / 4);
  expect(warnings).toEqual([]);
});

test("where somebody writes all the time, the database is written anew all the same in the end", async () => {
  const { root, stateDir } = fixture;
  {
    await using store = await fixture.open();
    await work(store, "one", marker);
    await work(store, "kept", "kept text");
  }
  using database = await StoreDatabase.open(join(stateDir, "gennai.db"));
  await using ledgers = await openLedgers(database, { stateDir, onWarning: () => undefined });
  const pace = { quietMs: 50, latestMs: 300 };
  await using live = new LiveForgetting({ database, ...ledgers, stateDir, onWarning: () => undefined, pace });
  await live.forget({ sessionId: "one", workspaceRoot: root } as Parameters<typeof live.forget>[0], "ada");
  const begun = performance.now();
  while (awaitsCompaction(database) && performance.now() - begun < 5_000) {
    database.prepare("UPDATE sessions SET title = 'written' WHERE id = 'kept'").run();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect(awaitsCompaction(database)).toBe(false);
  expect(holding(marker)).toEqual([]);
});

test("one that is closed while it finishes a purge looks at the database no more", async () => {
  const { stateDir } = fixture;
  {
    await using store = await fixture.open();
    await work(store, "one", marker);
  }
  await forgotten("session", async () => undefined);
  using database = await StoreDatabase.open(join(stateDir, "gennai.db"));
  await using ledgers = await openLedgers(database, { stateDir, onWarning: () => undefined });
  const live = new LiveForgetting({ database, ...ledgers, stateDir, onWarning: () => undefined });
  const looking = vi.spyOn(globalThis, "setInterval");
  const finishing = live.finish();
  // Begins it; its first file is read later.
  await Promise.resolve();
  await live[Symbol.asyncDispose]();
  await finishing;
  expect(pendingPurges(database)).toEqual([]);
  expect(looking).not.toHaveBeenCalled();
});
