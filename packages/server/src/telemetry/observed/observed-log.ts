import type { SessionLog } from "@gennai/store/log/session-log";
import { errorCode } from "../signals/error-code.ts";
import { errorType } from "../signals/gen-ai.ts";
import type { Instruments } from "../signals/instruments.ts";

/** The same log; appends are counted by kind and timed. */
export function observedLog(log: SessionLog, instruments: Instruments): SessionLog {
  return {
    create: (session) => log.create(session),
    head: (sessionId) => log.head(sessionId),
    list: (filter) => log.list(filter),
    setTitle: (sessionId, title) => log.setTitle(sessionId, title),
    takeOver: (sessionId) => log.takeOver(sessionId),
    forget: (sessionId, by) => log.forget(sessionId, by),
    async append(sessionId, batch, expected) {
      const began = performance.now();
      const durable = { "gennai.log.durable": batch.durable };
      const took = (): number => (performance.now() - began) / 1000;
      try {
        const events = await log.append(sessionId, batch, expected);
        instruments.appendDuration.record(took(), durable);
        for (const { event } of batch.events) instruments.events.add(1, { "gennai.event.type": event.type });
        for (const { kind } of batch.ledger) instruments.ledgerRecords.add(1, { "gennai.ledger.kind": kind });
        return events;
      } catch (error) {
        instruments.appendDuration.record(took(), { ...durable, [errorType]: errorCode(error) });
        throw error;
      }
    },
    read: (sessionId, afterSeq, limit) => log.read(sessionId, afterSeq, limit),
    tail: (sessionId, afterSeq, options) => log.tail(sessionId, afterSeq, options),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}
