import type { LoggedEvent, SessionEvent } from "@gennai/agent/events/session-event";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { StoreError } from "@gennai/store/database/store-error";
import { AppendConflict, type EventDraft, type LogBatch, type SessionLog } from "@gennai/store/log/session-log";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { userMessage } from "../../../packages/agent/test/user-message.ts";
import { plainEntry } from "../../../packages/governance/test/ledger/plain-entry.ts";

/** One place where sessions are kept, to which connections can be opened as if from several processes. */
export interface SessionLogPlace extends AsyncDisposable {
  open(): Promise<SessionLog>;
  /** A workspace root that this place can work with. */
  readonly workspaceRoot: string;
}

/** What every `SessionLog` must do. */
export function sessionLogConformance(name: string, createPlace: () => Promise<SessionLogPlace>): void {
  describe(`SessionLog conformance: ${name}`, () => {
    let place: SessionLogPlace;
    let log: SessionLog;
    let other: SessionLog;

    beforeEach(async () => {
      place = await createPlace();
      log = await place.open();
      other = await place.open();
      await log.create({ sessionId: "s", workspaceRoot: place.workspaceRoot, time: 1000 });
    });
    afterEach(async () => {
      await other[Symbol.asyncDispose]();
      await log[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    });

    it("creates sessions and lists them, newest first", async () => {
      const { workspaceRoot } = place;
      const created = await log.create({ sessionId: "b", workspaceRoot, time: 2000 });
      const head = {
        sessionId: "b",
        workspaceRoot,
        user: "",
        title: "",
        created: 2000,
        updated: 2000,
        lastSeq: 0,
        epoch: 1,
      };
      expect(created).toEqual(head);
      await log.create({ sessionId: "c", workspaceRoot: "/elsewhere", time: 500 });
      expect(await other.head("b")).toEqual(head);
      expect(await log.head("unknown")).toBeUndefined();
      await expect(log.create({ sessionId: "b", workspaceRoot, time: 3000 })).rejects.toThrow("exists");

      expect((await other.list({ limit: 10 })).map((each) => each.sessionId)).toEqual(["b", "s", "c"]);
      await log.append("s", batch([draft(0, { time: 9000 })]), { seq: 0, epoch: 1 });
      expect((await other.list({ limit: 10 })).map((each) => each.sessionId)).toEqual(["s", "b", "c"]);
      expect((await log.list({ workspaceRoot, limit: 1 })).map((each) => each.sessionId)).toEqual(["s"]);

      await log.setTitle("b", "A title 🎉");
      expect((await other.head("b"))?.title).toBe("A title 🎉");
      await expect(log.setTitle("unknown", "x")).rejects.toThrow("no session");
    });

    it("knows whose a session is, and lists those of one user", async () => {
      const { workspaceRoot } = place;
      const ada = await log.create({ sessionId: "ada-1", workspaceRoot, time: 10, user: "ada" });
      await log.create({ sessionId: "ada-2", workspaceRoot: "/elsewhere", time: 20, user: "ada" });
      await log.create({ sessionId: "eve-1", workspaceRoot, time: 30, user: "eve" });
      expect(ada.user).toBe("ada");
      expect((await other.head("ada-1"))?.user).toBe("ada");
      const ids = async (filter: { user: string; workspaceRoot?: string }) =>
        (await other.list({ ...filter, limit: 10 })).map((each) => each.sessionId);
      expect(await ids({ user: "ada" })).toEqual(["ada-2", "ada-1"]);
      expect(await ids({ user: "ada", workspaceRoot })).toEqual(["ada-1"]);
      expect(await ids({ user: "nobody" })).toEqual([]);
      expect((await other.list({ limit: 10 })).map((each) => each.sessionId)).toEqual(["s", "eve-1", "ada-2", "ada-1"]);
    });

    it("gives events gapless places and reads them back as they were", async () => {
      const events: SessionEvent[] = [
        userMessage("héllo\u0000\u2028 \ud800", { scenario: "CODE" }),
        {
          type: "tool-result",
          id: "1",
          name: "x",
          output: "o",
          truncated: false,
          verification: "verified",
          observed: [],
        },
        { type: "todos-changed", items: [] },
      ];
      const drafts = events.map(
        (event, index): EventDraft => ({ turnId: "t", itemId: index === 1 ? "i" : "", time: 5 + index, event }),
      );
      const logged = await log.append("s", { events: drafts, ledger: [], durable: true }, { seq: 0, epoch: 1 });
      const wanted = drafts.map((each, index): LoggedEvent => ({ ...each, seq: index + 1 }));
      expect(logged).toEqual(wanted);
      expect(await log.read("s", 0, 10)).toEqual(wanted);
      expect(await other.read("s", 1, 1)).toEqual(wanted.slice(1, 2));
      expect(await other.read("s", 3, 10)).toEqual([]);
      expect(await log.read("unknown", 0, 10)).toEqual([]);
      expect(await log.head("s")).toMatchObject({ lastSeq: 3, epoch: 1 });
    });

    it.each([
      ["one connection", () => [log, log]],
      ["two connections", () => [log, other]],
    ] as const)("lets one of two writers win and the other lose cleanly: %s", async (_name, writers) => {
      for (let round = 0; round < 30; round++) {
        const seq = round * 2;
        const tries = await Promise.allSettled(
          writers().map((writer) =>
            writer.append("s", batch([draft(seq), draft(seq + 1)], round % 2 === 0), { seq, epoch: 1 }),
          ),
        );
        const lost = tries.filter((each) => each.status === "rejected");
        expect(lost).toHaveLength(1);
        expect(lost[0]?.reason).toBeInstanceOf(AppendConflict);
        expect(await log.head("s")).toMatchObject({ lastSeq: seq + 2 });
      }
      expect((await other.read("s", 0, 100)).map((each) => each.seq)).toEqual(range(60));
    });

    it("forgets a session, also for who follows it elsewhere, and no other", async () => {
      const { workspaceRoot } = place;
      await log.create({ sessionId: "b", workspaceRoot, time: 2000 });
      await log.append("s", { ...batch([draft(0)], true), ledger: [ledgerEntry] }, { seq: 0, epoch: 1 });
      await log.append("b", batch([draft(0)]), { seq: 0, epoch: 1 });
      const followed = [log, other].map(async (each) => {
        const seen: number[] = [];
        try {
          for await (const events of each.tail("s", 0, { signal: new AbortController().signal })) {
            seen.push(...events.map(({ seq }) => seq));
          }
        } catch (error) {
          return { seen, code: error instanceof StoreError ? error.code : String(error) };
        }
        return { seen, code: "ended" };
      });
      await pause(100);
      expect(await log.forget("s", "ada")).toEqual({ events: 1, records: 1, blobs: 0 });
      for (const end of await Promise.all(followed)) expect(end).toEqual({ seen: [1], code: "session_deleted" });
      for (const each of [log, other]) {
        expect(await each.head("s")).toBeUndefined();
        expect((await each.list({ limit: 10 })).map(({ sessionId }) => sessionId)).toEqual(["b"]);
        expect(await each.read("s", 0, 10)).toEqual([]);
        expect(await each.read("b", 0, 10)).toHaveLength(1);
        const late = each.append("s", batch([draft(1)]), { seq: 1, epoch: 1 });
        await expect(late).rejects.toThrow("no session");
        await expect(each.forget("s", "ada")).rejects.toThrow("no session");
      }
      await other.append("b", batch([draft(1)], true), { seq: 1, epoch: 1 });
    });

    it("keeps the order of one writer that does not wait", async () => {
      const appends = Array.from({ length: 50 }, (_, seq) => log.append("s", batch([draft(seq)]), { seq, epoch: 1 }));
      await Promise.all(appends);
      expect((await log.read("s", 0, 100)).map(indexOf)).toEqual(range(50).map((each) => each - 1));
    });

    it("refuses the owner of an older epoch", async () => {
      await log.append("s", batch([draft(0)]), { seq: 0, epoch: 1 });
      expect(await other.takeOver("s")).toBe(2);
      await expect(log.append("s", batch([draft(1)]), { seq: 1, epoch: 1 })).rejects.toBeInstanceOf(AppendConflict);
      await other.append("s", batch([draft(1)]), { seq: 1, epoch: 2 });
      expect(await log.head("s")).toMatchObject({ lastSeq: 2, epoch: 2 });
      await expect(log.takeOver("unknown")).rejects.toThrow("no session");
    });

    it("takes all of a batch or nothing", async () => {
      const impossible = draft(1, {
        event: {
          type: "text-delta",
          get text(): string {
            throw new Error("no text");
          },
        },
      });
      await expect(log.append("s", batch([draft(0), impossible]), { seq: 0, epoch: 1 })).rejects.toThrow("no text");
      const entry: LedgerEntry = { ...ledgerEntry, time: Number.NaN };
      await expect(
        log.append("s", { ...batch([draft(0)]), ledger: [ledgerEntry, entry] }, { seq: 0, epoch: 1 }),
      ).rejects.toThrow();
      expect(await other.read("s", 0, 10)).toEqual([]);
      expect(await log.head("s")).toMatchObject({ lastSeq: 0 });
      await log.append("s", { ...batch([draft(0)]), ledger: [ledgerEntry] }, { seq: 0, epoch: 1 });
      expect(await log.head("s")).toMatchObject({ lastSeq: 1 });
      await expect(log.append("unknown", batch([draft(0)]), { seq: 0, epoch: 1 })).rejects.toThrow("no session");
    });

    it.each([
      ["its own connection", () => log],
      ["another connection", () => other],
    ] as const)("follows what is appended through %s", async (_name, writer) => {
      await log.append("s", batch([draft(0), draft(1)]), { seq: 0, epoch: 1 });
      const reading = collect(log, 1, 30);
      for (let seq = 2; seq < 30; seq++) {
        await writer().append("s", batch([draft(seq)]), { seq, epoch: 1 });
        if (seq % 10 === 0) await pause(30);
      }
      expect((await reading).map(indexOf)).toEqual(range(29));
    });

    it("follows two connections that take turns", async () => {
      const readings = [collect(log, 0, 40), collect(other, 0, 40), collect(other, 20, 40)];
      for (let seq = 0; seq < 40; seq++) {
        await (seq % 3 === 0 ? log : other).append("s", batch([draft(seq)]), { seq, epoch: 1 });
        await pause(seq % 4);
      }
      const [first, second, third] = await Promise.all(readings);
      expect(first?.map((each) => each.seq)).toEqual(range(40));
      expect(second).toEqual(first);
      expect(third).toEqual(first?.slice(20));
    });

    it("never skips for a slow reader", async () => {
      const total = 3000;
      const controller = new AbortController();
      const seen: number[] = [];
      const reading = (async () => {
        for await (const events of log.tail("s", 0, { signal: controller.signal })) {
          seen.push(...events.map((each) => each.seq));
          if (seen.length >= total) controller.abort();
          await pause(5);
        }
      })();
      for (let seq = 0; seq < total; seq++) {
        await log.append("s", batch([draft(seq)]), { seq, epoch: 1 });
        if (seq % 100 === 0) await pause(1);
      }
      await reading;
      expect(seen).toEqual(range(total));
    });

    it("ends on abort, promptly and without leaving a listener", async () => {
      let listeners = 0;
      const controller = new AbortController();
      const { signal } = controller;
      const add = signal.addEventListener.bind(signal);
      const remove = signal.removeEventListener.bind(signal);
      signal.addEventListener = (...args: Parameters<typeof add>) => void (listeners++, add(...args));
      signal.removeEventListener = (...args: Parameters<typeof remove>) => void (listeners--, remove(...args));

      await log.append("s", batch([draft(0)]), { seq: 0, epoch: 1 });
      for await (const _events of log.tail("s", 0, { signal })) break;
      expect(listeners).toBe(0);

      const tail = log.tail("s", 1, { signal })[Symbol.asyncIterator]();
      const next = tail.next();
      await pause(20);
      const start = performance.now();
      controller.abort();
      expect(await next).toMatchObject({ done: true });
      expect(performance.now() - start).toBeLessThan(100);
      expect(listeners).toBe(0);
      expect(await log.tail("s", 0, { signal })[Symbol.asyncIterator]().next()).toMatchObject({ done: true });
      const unknown = log.tail("unknown", 0, { signal: new AbortController().signal })[Symbol.asyncIterator]();
      await expect(unknown.next()).rejects.toThrow("no session");
    });

    it("ends tails when it is closed", async () => {
      const tail = other.tail("s", 0, { signal: new AbortController().signal })[Symbol.asyncIterator]();
      const next = tail.next();
      await pause(10);
      await other[Symbol.asyncDispose]();
      expect(await next).toMatchObject({ done: true });
    });

    it("replays 100,000 events", async () => {
      const total = 100_000;
      for (let seq = 0; seq < total; seq += 1000) {
        await log.append("s", batch(Array.from({ length: 1000 }, (_, index) => draft(seq + index))), { seq, epoch: 1 });
      }
      let after = 0;
      let largest = 0;
      const controller = new AbortController();
      for await (const events of other.tail("s", 0, { signal: controller.signal })) {
        largest = Math.max(largest, events.length);
        for (const each of events) {
          if (each.seq !== after + 1 || indexOf(each) !== after) throw new Error(`seq ${each.seq} after ${after}`);
          after = each.seq;
        }
        if (after === total) controller.abort();
      }
      expect(after).toBe(total);
      expect(largest).toBeLessThanOrEqual(5000);
    });

    async function collect(from: SessionLog, afterSeq: number, untilSeq: number): Promise<LoggedEvent[]> {
      const controller = new AbortController();
      const seen: LoggedEvent[] = [];
      for await (const events of from.tail("s", afterSeq, { signal: controller.signal })) {
        seen.push(...events);
        if ((seen.at(-1)?.seq ?? 0) >= untilSeq) controller.abort();
      }
      return seen;
    }
  });
}

const ledgerEntry: LedgerEntry = plainEntry();

function draft(index: number, change: Partial<EventDraft> = {}): EventDraft {
  return {
    turnId: "t",
    itemId: "i",
    time: 1000 + index,
    event: { type: "text-delta", text: String(index) },
    ...change,
  };
}

function indexOf(logged: LoggedEvent): number {
  return logged.event.type === "text-delta" ? Number(logged.event.text) : Number.NaN;
}

function batch(events: readonly EventDraft[], durable = false): LogBatch {
  return { events, ledger: [], durable };
}

/** 1 to `count`. */
function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
