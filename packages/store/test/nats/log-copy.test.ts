import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, it, onTestFinished } from "vitest";
import { StoreDatabase } from "#database/database";
import { openLedgers } from "#ledger/open-ledgers";
import { type ArrivedMessage, LogCopy } from "#nats/log-copy";
import { lockSubject, type SessionMessage, sessionSubject, tokenSubject } from "#nats/log-message";
import { BrokenChain } from "#nats/message-chain";
import { LiveForgetting } from "#purge/live-forgetting";
import { SqliteSessionLog } from "#sqlite/sqlite-session-log";
import { openStore } from "#sqlite/store";

const created: SessionMessage = { kind: "create", workspaceRoot: "/w", time: 1, owner: "r1", preamble: "" };

function said(seq: number, text: string, epoch = 1): SessionMessage {
  const events = [{ turnId: "", itemId: "", time: 2, event: { type: "text-delta" as const, text } }];
  return { kind: "batch", seq, epoch, events, ledger: [], spentTokens: [], toolVersion: "1" };
}

/** The digests are the numbers in these tests, unless `after` says that the writer had read something else. */
function at(position: number, number: number, message: SessionMessage, after = digest(number - 1)): ArrivedMessage {
  return { position, subject: sessionSubject("g", "s", number), message, link: { after, digest: digest(number) } };
}

function digest(number: number): string {
  return number < 0 ? "" : `digest ${number}`;
}

async function openCopy() {
  const directory = await temporaryDirectory();
  const database = await StoreDatabase.open(directory.path("gennai.db"));
  onTestFinished(async () => {
    database[Symbol.dispose]();
    await directory[Symbol.asyncDispose]();
  });
  const { table, mirror, watch } = await openLedgers(database, {
    stateDir: directory.root,
    shared: true,
    onWarning: () => undefined,
  });
  const sessions = new SqliteSessionLog(
    database,
    table,
    new LiveForgetting({ database, table, mirror, watch, stateDir: directory.root, onWarning: () => undefined }),
  );
  return { copy: new LogCopy(database, sessions, { stream: "g_log", mirrors: () => false }), sessions, directory };
}

it("the first message of a number counts, also when a second one was stored", async () => {
  const { copy, sessions } = await openCopy();
  copy.take([at(1, 0, created), at(2, 1, said(0, "won")), at(3, 1, said(0, "lost"))]);
  copy.take([at(5, 2, said(1, "next")), at(6, 1, said(0, "lost again"))]);
  expect((await sessions.read("s", 0, 10)).map(({ event }) => event)).toEqual([
    { type: "text-delta", text: "won" },
    { type: "text-delta", text: "next" },
  ]);
  expect([2, 3, 5, 6].map((position) => copy.isPassedOver(position))).toEqual([false, true, false, true]);
  expect(copy.place("s")).toMatchObject({ seq: 2, epoch: 1, number: 2, owner: "r1", digest: "digest 2" });
  expect(copy.position).toBe(6);
});

it("a take-over is a message, after which the epoch and the owner are others", async () => {
  const { copy } = await openCopy();
  copy.take([at(1, 0, created), at(2, 1, { kind: "take-over", epoch: 2, owner: "r2" }), at(3, 2, said(0, "x", 2))]);
  expect(copy.place("s")).toMatchObject({ seq: 1, epoch: 2, number: 2, owner: "r2" });
});

it("takes nothing after a gap", async () => {
  const { copy } = await openCopy();
  copy.take([at(1, 0, created)]);
  expect(() => copy.take([at(4, 2, said(0, "x"))])).toThrow("lacks a message");
  expect(copy.position).toBe(1);
});

it("takes no message whose writer had read others, and passes over one that is void", async () => {
  const { copy, sessions } = await openCopy();
  const void2 = at(3, 2, said(1, "void"), "something else");
  copy.take([at(1, 0, created), at(2, 1, said(0, "won"))]);
  expect(() => copy.take([void2])).toThrow(BrokenChain);
  expect(copy.position).toBe(2);
  copy.take([void2, at(4, 3, said(1, "next"), "digest 1")], new Set([3]));
  expect((await sessions.read("s", 0, 10)).map(({ event }) => event)).toEqual([
    { type: "text-delta", text: "won" },
    { type: "text-delta", text: "next" },
  ]);
  expect(copy.isPassedOver(3)).toBe(true);
});

it("a token belongs to the first message that spends it, a lock to the newest number", async () => {
  const { copy } = await openCopy();
  const spent = { subject: tokenSubject("g", "t"), message: undefined };
  const lock = (position: number, number: number, replica: string): ArrivedMessage => ({
    position,
    subject: lockSubject("g", "l", number),
    message: undefined,
    lock: { replica, what: "work" },
  });
  copy.take([{ position: 1, ...spent }, { position: 2, ...spent }, lock(3, 1, "r1"), lock(4, 1, "r2"), lock(5, 2, "")]);
  expect(copy.spentAt("t")).toBe(1);
  expect(copy.lock("l")).toEqual({ number: 2, position: 5, replica: "", what: "work" });
});

it("a copy is not opened as a store of its own", async () => {
  const { directory } = await openCopy();
  await expect(openStore(directory.root, { onWarning: () => undefined })).rejects.toMatchObject({ code: "busy" });
});
