import { JetStreamApiError, type JetStreamManager } from "@nats-io/jetstream";
import { StoreError } from "../database/store-error.ts";
import { createOnce, type StreamAccess } from "./create-once.ts";

/**
 * Format of a shared log: its subjects, messages and objects. Written once into the log, before anything else. A log with a higher
 * one was begun by a newer Gennai and stays untouched; one without any is from before it was written, and has 1.
 */
export const logFormat = 1;

export function logFormatSubject(namespace: string): string {
  return `${namespace}.ctl.format`;
}

/** What a log says; undefined when there is none, or none that says anything. Rejects when nobody can say. */
export async function readLogFormat(
  manager: JetStreamManager,
  stream: string,
  namespace: string,
): Promise<string | undefined> {
  try {
    const message = await manager.streams.getMessage(stream, { last_by_subj: logFormatSubject(namespace) });
    return message === null ? undefined : new TextDecoder().decode(message.data);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === noSuchStream) return undefined;
    throw error;
  }
}

/** Throws `StoreError` `newer_format`. */
export function refuseNewerLog(namespace: string, format: string | undefined): void {
  if (format === undefined || (/^[1-9]\d{0,5}$/.test(format) && Number(format) <= logFormat)) return;
  throw new StoreError(
    "newer_format",
    `The log ${namespace} has format ${format.slice(0, 20)}, this Gennai reads up to ${logFormat}: update Gennai, or name another log.`,
  );
}

/** Writes the format of a log that has none. Rejects with `StoreError` `newer_format`, also when another was faster. */
export async function agreeOnFormat(log: StreamAccess, namespace: string): Promise<void> {
  const payload = new TextEncoder().encode(String(logFormat));
  const creation = await createOnce(log, logFormatSubject(namespace), { id: `format.${logFormat}`, payload });
  if (creation.type === "created") return;
  refuseNewerLog(namespace, await readLogFormat(log.manager, log.stream, namespace));
}

const noSuchStream = 10_059;
