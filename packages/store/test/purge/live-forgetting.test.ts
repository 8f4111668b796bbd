import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionEvent } from "@gennai/agent/session-event";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifyWorkspaceLedger } from "#audit/ledger-verify";
import { StoreDatabase } from "#database/database";
import { createPurgeJobs, pendingPurges } from "#database/purge-job-table";
import { openLedgers } from "#ledger/open-ledgers";
import { forgetSessions, storedSessions } from "#purge/forget-sessions";
import type { Store } from "#sqlite/store";
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
  const event: SessionEvent = {
    type: "user-message",
    text,
    scenario: "",
    clientTurnId: "",
    enableThinking: false,
    images,
  };
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

test("what a kill after the transaction left goes when the store is opened next", async () => {
  {
    await using store = await fixture.open();
    await work(store, "one", marker);
    await store.flushLedgers();
  }
  {
    using database = await StoreDatabase.open(join(fixture.stateDir, "gennai.db"));
    createPurgeJobs(database);
    await using ledgers = await openLedgers(database, { stateDir: fixture.stateDir, onWarning: () => undefined });
    const { table, mirror } = ledgers;
    const workspace = table.find(fixture.root) ?? 0;
    const sessions = storedSessions(database, workspace, "one");
    const order = { workspace, workspaceRoot: fixture.root, sessions, scope: "session", by: "ada", time: 1 } as const;
    await forgetSessions({ database, table, mirror, stateDir: fixture.stateDir }, order);
    expect(pendingPurges(database)).toHaveLength(1);
  }
  expect(holding(marker)).not.toEqual([]);
  {
    await using store = await fixture.open();
    expect(await store.log.list({ limit: 9 })).toMatchObject([{ sessionId: "s" }]);
    expect(holding(marker)).toEqual([]);
  }
  expect(await verify()).toMatchObject({ status: "ok", purged: 1 });
});
