import type { LoggedEvent, SessionEvent } from "@gennai/agent/events/session-event";
import { AppendConflict, type LogBatch } from "@gennai/store/log/session-log";
import { describe, expect, test } from "vitest";
import { SessionWriter } from "#session/session-writer";

const warning = (text: string): SessionEvent => ({ type: "warning", text });
const delta = (text: string): SessionEvent => ({ type: "text-delta", text });
const place = { turnId: "t", itemId: "i" };

/** A log of one session, whose appends end when the test says so. */
class TestLog {
  readonly batches: LogBatch[] = [];
  seq = 0;
  conflict = false;
  gate = Promise.resolve();

  async append(_id: string, batch: LogBatch, expected: { readonly seq: number }): Promise<readonly LoggedEvent[]> {
    await this.gate;
    if (this.conflict || expected.seq !== this.seq) throw new AppendConflict("another writer was faster");
    this.batches.push(batch);
    return batch.events.map((event) => ({ ...event, seq: ++this.seq }));
  }
}

function start() {
  const log = new TestLog();
  const folded: LoggedEvent[] = [];
  const writer = new SessionWriter({
    // Only `append` is the writer's.
    log: log as unknown as ConstructorParameters<typeof SessionWriter>[0]["log"],
    sessionId: "s",
    seq: 0,
    epoch: 1,
    now: () => 1,
    onAppended: (events) => folded.push(...events),
  });
  const texts = (): readonly string[][] =>
    log.batches.map(({ events }) => events.map(({ event }) => ("text" in event ? event.text : event.type)));
  return { log, writer, folded, texts };
}

describe("a writer", () => {
  test("appends what comes together as one batch, deltas of one item as one event", async () => {
    const { writer, texts } = start();
    for (const text of ["a", "b", "c"]) writer.emit(delta(text), place);
    writer.emit(warning("w"), { turnId: "t" });
    writer.emit(delta("d"), place);
    writer.emit(delta("e"), { turnId: "t", itemId: "other" });
    await writer.flush();
    expect(texts()).toEqual([["abc", "w", "d", "e"]]);
    expect(writer.lastSeq).toBe(4);
  });

  test("what arrives while an append is under way joins the next", async () => {
    const { log, writer, texts } = start();
    const gate = Promise.withResolvers<void>();
    log.gate = gate.promise;
    writer.emit(delta("a"), place);
    const first = writer.flush();
    for (const text of ["b", "c"]) writer.emit(delta(text), place);
    const second = writer.commit([warning("w")], { turnId: "t", durable: true });
    gate.resolve();
    await Promise.all([first, second]);
    expect(texts()).toEqual([["a"], ["bc", "w"]]);
    expect(log.batches.map(({ durable }) => durable)).toEqual([false, true]);
  });

  test("folds before anyone who waits goes on", async () => {
    const { writer, folded } = start();
    await writer.commit([warning("w")], { turnId: "t", durable: false });
    expect(folded.map(({ seq }) => seq)).toEqual([1]);
  });

  test("emits without a flush arrive by themselves", async () => {
    const { writer, texts } = start();
    writer.emit(warning("w"), { turnId: "t" });
    await expect.poll(texts).toEqual([["w"]]);
  });

  test("stops for good at the first append that does not go in; everybody who waits learns it", async () => {
    const { log, writer, folded } = start();
    log.conflict = true;
    const all = [writer.commit([warning("a")], { turnId: "t", durable: false }), writer.flush()];
    for (const each of all) await expect(each).rejects.toBeInstanceOf(AppendConflict);
    log.conflict = false;
    await expect(writer.commit([warning("b")], { turnId: "t", durable: false })).rejects.toBeInstanceOf(AppendConflict);
    expect([writer.failure, folded, log.batches]).toEqual([expect.any(Error), [], []]);
  });

  test("a flush with nothing to write is done", async () => {
    const { writer } = start();
    await writer.flush();
    expect(writer.lastSeq).toBe(0);
  });
});
