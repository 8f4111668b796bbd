import { randomUUID } from "node:crypto";
import { JetStreamApiError, type JetStreamManager } from "@nats-io/jetstream";
import { StoreError } from "../database/store-error.ts";
import { createOnce, type StreamAccess } from "./create-once.ts";

/**
 * Format of a shared log: its subjects, messages and objects. Written before anything else, and again by the first Gennai with a
 * higher format. A log with a higher format than ours was written by a newer Gennai and stays untouched; a log without one is
 * older than this mark, and has format 1. Format 2: sessions are forgotten, by a message that stops versions that do not know it.
 */
export const logFormat = 2;

export function logFormatSubject(namespace: string): string {
  return `${namespace}.ctl.format`;
}

/** The format of a log; undefined if there is no log, or it states none. Rejects if it cannot be read. */
export async function readLogFormat(
  manager: JetStreamManager,
  stream: string,
  namespace: string,
): Promise<string | undefined> {
  return (await newestFormat(manager, stream, namespace))?.format;
}

/** Throws `StoreError` `newer_format`. */
export function refuseNewerLog(namespace: string, format: string | undefined): void {
  if (format === undefined || (/^[1-9]\d{0,5}$/.test(format) && Number(format) <= logFormat)) return;
  throw new StoreError(
    "newer_format",
    `The log ${namespace} has format ${format.slice(0, 20)}, this Gennai reads up to ${logFormat}: update Gennai, or name another log.`,
  );
}

/**
 * Writes the format of a log that has none, or an older one: from then on no older Gennai opens it. Rejects with `StoreError`
 * `newer_format`, also if another process was faster.
 */
export async function agreeOnFormat(log: StreamAccess, namespace: string): Promise<void> {
  const payload = new TextEncoder().encode(String(logFormat));
  for (;;) {
    const newest = await newestFormat(log.manager, log.stream, namespace);
    refuseNewerLog(namespace, newest?.format);
    if (newest?.format === String(logFormat)) return;
    const after = newest?.position ?? 0;
    const message = { id: `format.${logFormat}.${randomUUID()}`, payload };
    // If another process was faster, its value counts.
    if ((await createOnce(log, logFormatSubject(namespace), message, { after })).type === "created") return;
  }
}

async function newestFormat(
  manager: JetStreamManager,
  stream: string,
  namespace: string,
): Promise<{ readonly format: string; readonly position: number } | undefined> {
  try {
    const message = await manager.streams.getMessage(stream, { last_by_subj: logFormatSubject(namespace) });
    return message === null ? undefined : { format: new TextDecoder().decode(message.data), position: message.seq };
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === noSuchStream) return undefined;
    throw error;
  }
}

const noSuchStream = 10_059;
