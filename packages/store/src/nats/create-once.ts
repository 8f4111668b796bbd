import { setTimeout as delay } from "node:timers/promises";
import { JetStreamApiError, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import { StoreError } from "../database/store-error.ts";

/** What is needed to write to a stream. */
export interface StreamAccess {
  readonly stream: string;
  readonly client: JetStreamClient;
  readonly manager: JetStreamManager;
}

export type Creation =
  /** `position` is the message's in the stream. */
  | { readonly type: "created"; readonly position: number }
  /** A message of another writer has this subject. */
  | { readonly type: "taken" };

const ackTimeout = 2_000;
const timeoutMs = 30_000;
/** "wrong last sequence" of JetStream. */
const wrongLastSequence = 10_071;

/**
 * The fence: stores a message on a subject without messages, or whose last one is at position `after`. Of several writers,
 * exactly one succeeds, whichever node leads and however often that changes. `id` is unique to this message: after a lost
 * response, it shows whether the stored message is ours. Rejects with `StoreError` `unavailable` if the result was unknown for
 * 30 s; the caller must then assume neither success nor failure.
 */
export async function createOnce(
  access: StreamAccess,
  subject: string,
  message: {
    readonly id: string;
    readonly payload: Uint8Array;
    readonly headers?: Readonly<Record<string, string>>;
  },
  options: { readonly timeoutMs?: number; readonly signal?: AbortSignal; readonly after?: number } = {},
): Promise<Creation> {
  const deadline = performance.now() + (options.timeoutMs ?? timeoutMs);
  const fields = headers();
  for (const [name, value] of Object.entries(message.headers ?? {})) fields.set(name, value);
  let failure: unknown;
  for (let attempt = 0; performance.now() < deadline && options.signal?.aborted !== true; attempt++) {
    if (attempt > 0) await delay(Math.min(50 * attempt, 500));
    try {
      const ack = await access.client.publish(subject, message.payload, {
        msgID: message.id,
        headers: fields,
        expect: { lastSubjectSequence: options.after ?? 0 },
        timeout: ackTimeout,
      });
      // A duplicate is ours, because its id is unique to our message.
      return { type: "created", position: ack.seq };
    } catch (error) {
      failure = error;
      if (!(error instanceof JetStreamApiError) || error.code !== wrongLastSequence) continue;
      // The message there may be from an earlier attempt of ours, whose acknowledgement was lost.
      const holder = await holderOf(access, subject).catch(() => undefined);
      if (holder === undefined) continue;
      return holder.id === message.id ? { type: "created", position: holder.position } : { type: "taken" };
    }
  }
  const what = failure instanceof JetStreamApiError ? `store nothing (${failure.message})` : "do not answer";
  throw new StoreError("unavailable", `The log's NATS servers ${what}: look at them; nothing can be written.`, {
    cause: failure,
  });
}

/** Asks the leader, because a replica may not have the message yet. */
async function holderOf(
  { manager, stream }: StreamAccess,
  subject: string,
): Promise<{ readonly id: string; readonly position: number } | undefined> {
  const message = await manager.streams.getMessage(stream, { last_by_subj: subject });
  return message === null ? undefined : { id: message.header.get("Nats-Msg-Id"), position: message.seq };
}
