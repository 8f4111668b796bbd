import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { databaseFile } from "../database/database.ts";
import { StoreError, type StoreErrorCode } from "../database/store-error.ts";
import type { ArrivedMessage, LogCopy } from "./log-copy.ts";
import type { LogStreams } from "./log-streams.ts";
import { BrokenChain, streamDigest } from "./message-chain.ts";

/** What may pass by itself: the same messages are then taken again. */
const passing: ReadonlySet<StoreErrorCode> = new Set(["disk_full", "read_only", "busy", "io", "closed"]);

/**
 * Takes messages into the copy. Rejects with `StoreError` `corrupt` when they do not follow what it holds. Then the stream lacks
 * something if the copy was read by this process from the beginning; any other copy is marked for removal.
 */
export async function takeInto(
  place: {
    readonly copy: LogCopy;
    readonly streams: LogStreams;
    readonly stateDir: string;
    /** Whether this process has read all of it. */
    readonly isFresh: boolean;
  },
  messages: readonly ArrivedMessage[],
): Promise<void> {
  const { copy, streams, stateDir, isFresh } = place;
  const voided = new Set<number>();
  for (;;) {
    try {
      copy.take(messages, voided);
      return;
    } catch (error) {
      if (!(error instanceof BrokenChain)) {
        if (error instanceof StoreError && passing.has(error.code)) throw error;
        if (isFresh) throw error instanceof StoreError && error.code === "corrupt" ? error : unreadable(error);
        throw await distrusted(stateDir, error);
      }
      // Either its writer had read a message that the stream has lost since, and it is void; or this replica has. The stream tells.
      const { sessionId, position, own } = error;
      const session = { namespace: streams.namespace, sessionId, before: position };
      if ((await streamDigest(streams.log, session)) !== own) throw await distrusted(stateDir, error);
      voided.add(position);
    }
  }
}

/** True if this replica's copy of the log does not agree with it: it is to be opened again, which makes it anew. */
export function isDistrusted(stateDir: string): boolean {
  return existsSync(markFile(stateDir));
}

/** Before a copy is opened: removes one that does not agree with the log. Everything in it comes from there. */
export async function removeDistrusted(stateDir: string): Promise<void> {
  if (!isDistrusted(stateDir)) return;
  const file = databaseFile(stateDir);
  for (const each of [`${file}-wal`, `${file}-shm`, file, markFile(stateDir)]) await rm(each, { force: true });
}

function markFile(stateDir: string): string {
  return join(stateDir, "log-copy-distrusted");
}

async function distrusted(stateDir: string, cause: unknown): Promise<StoreError> {
  await writeFile(markFile(stateDir), "", { mode: 0o600 });
  return new StoreError("corrupt", "This server's copy of the log is not what NATS holds; it is made anew.", { cause });
}

function unreadable(cause: unknown): StoreError {
  const problem = "A message of the log does not follow the ones before it: restore the NATS stream.";
  return new StoreError("corrupt", problem, { cause });
}
