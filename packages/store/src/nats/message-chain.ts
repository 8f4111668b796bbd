import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { AckPolicy, DeliverPolicy, type JsMsg } from "@nats-io/jetstream";
import { nanos } from "@nats-io/transport-node";
import type { StreamAccess } from "./create-once.ts";
import { sessionSubjects } from "./log-message.ts";

/**
 * Chains a session's messages: each has a header with the digest of all earlier ones as its writer had read them. So it is
 * noticed if a message was acknowledged, read by some, and then lost and replaced in the stream.
 */
export interface ChainLink {
  /** Digest of the messages before, as the writer had them; empty for the first. */
  readonly after: string;
  /** Digest up to and including this message. */
  readonly digest: string;
}

const field = "Gennai-After";

/** The header of a message that follows those with a digest. */
export function chainHeader(after: string): Readonly<Record<string, string>> {
  return { [field]: after };
}

export function chainLink(message: JsMsg): ChainLink {
  const after = message.headers?.get(field) ?? "";
  return { after, digest: createHash("sha256").update(`${after}\n`).update(message.data).digest("hex") };
}

/** Thrown where a message does not follow what this replica has of its session. */
export class BrokenChain extends Error {
  readonly sessionId: string;
  /** Position of the message in the stream. */
  readonly position: number;
  /** Digest of this replica's messages before it. */
  readonly own: string;

  constructor(sessionId: string, position: number, own: string) {
    super(`Message ${position} of the log does not follow the ones before it in session ${sessionId}.`);
    this.name = "BrokenChain";
    this.sessionId = sessionId;
    this.position = position;
    this.own = own;
  }
}

interface SessionPart {
  readonly namespace: string;
  readonly sessionId: string;
  /** Position of a message of this session; what comes before it counts. */
  readonly before: number;
}

const attempts = 20;

/** The digest of a session's messages before a position, as now in the stream. Rejects if NATS does not answer. */
export async function streamDigest(access: StreamAccess, part: SessionPart): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readDigest(access, part);
    } catch (error) {
      if (attempt === attempts) throw error;
      await delay(500);
    }
  }
}

async function readDigest({ client, manager, stream }: StreamAccess, part: SessionPart): Promise<string> {
  const { name } = await manager.consumers.add(stream, {
    filter_subject: sessionSubjects(part.namespace, part.sessionId),
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.None,
    inactive_threshold: nanos(10_000),
  });
  const consumer = await client.consumers.get(stream, name);
  let digest = "";
  for (;;) {
    let seen = 0;
    for await (const message of await consumer.fetch({ max_messages: 500, expires: 2_000 })) {
      if (message.seq >= part.before) return digest;
      seen++;
      const link = chainLink(message);
      if (link.after === digest) digest = link.digest;
    }
    if (seen === 0) throw new Error("The stream stopped before the message that is known to be there.");
  }
}
