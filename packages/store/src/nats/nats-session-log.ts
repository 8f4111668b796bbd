import { Buffer } from "node:buffer";
import { randomBytes, randomUUID } from "node:crypto";
import type { LoggedEvent } from "@gennai/agent/events/session-event";
import { sealRecord } from "@gennai/governance/ledger/ledger-record";
import { OneByOne } from "@gennai/machine/one-by-one";
import { StoreError } from "../database/store-error.ts";
import { readPreamble } from "../ledger/file/ledger-file.ts";
import { isSignedHere } from "../ledger/ledger-key.ts";
import {
  AppendConflict,
  type BlobStore,
  type ForgottenSession,
  type LogBatch,
  type LogPlace,
  type NewSession,
  type SessionFilter,
  type SessionHead,
  type SessionLog,
} from "../log/session-log.ts";
import { appendConflict, sessionExists, unknownSession } from "../log/session-refusals.ts";
import { numberedEvents } from "../sqlite/session-table.ts";
import type { SqliteSessionLog } from "../sqlite/sqlite-session-log.ts";
import { createOnce } from "./create-once.ts";
import type { LogCopy, LogPosition } from "./log-copy.ts";
import {
  decodeMessage,
  encodeMessage,
  isSubjectToken,
  type SessionMessage,
  sessionSubject,
  tokenSubject,
} from "./log-message.ts";
import type { LogStreams } from "./log-streams.ts";
import { chainHeader } from "./message-chain.ts";
import type { StreamFollower } from "./stream-follower.ts";

export interface NatsSessionLogOptions {
  /** Where the public keys of the ledger lie. */
  readonly stateDir: string;
  readonly streams: LogStreams;
  readonly copy: LogCopy;
  /** Reads and tails of the copy. */
  readonly sessions: SqliteSessionLog;
  readonly follower: StreamFollower;
  /** For batches too large for a message. */
  readonly blobs: BlobStore;
  readonly toolVersion: string;
  /** Id of this replica. Only the owner of the newest epoch appends. Empty: nobody owns sessions, only the epoch counts. */
  readonly replicaId: string;
  /** Whether a replica may still be running turns; then its sessions are not taken over. */
  readonly isAlive: (replicaId: string) => Promise<boolean>;
  /** Resolves when what a forgotten session left on this machine is removed, or will be tried again. */
  readonly afterForgetting: (sessionId: string) => Promise<ForgottenSession>;
}

/** The message before a new one. */
type Predecessor = Pick<LogPosition, "number" | "digest">;

const beginning: Predecessor = { number: -1, digest: "" };
/** Bytes that headers and subject may take of a message's maximum. */
const envelope = 4_096;

/**
 * Sessions in a JetStream stream. A message is a batch, on a subject of its own that can be created once: two writers who
 * know the same last message compete for one subject, and one of them loses. What is read comes from this replica's copy.
 */
export class NatsSessionLog implements SessionLog {
  readonly #options: NatsSessionLogOptions;
  /** Writes of this replica to a session, one at a time. */
  readonly #writing = new OneByOne<string>();
  #closed = false;

  constructor(options: NatsSessionLogOptions) {
    this.#options = options;
  }

  async create({ sessionId, workspaceRoot, time, user = "" }: NewSession): Promise<SessionHead> {
    if (!isSubjectToken(sessionId)) throw new TypeError("A session's id has letters, digits, - and _ only.");
    const { replicaId: owner } = this.#options;
    const preamble = Buffer.from(readPreamble(workspaceRoot, isSignedHere(this.#options.stateDir))).toString("base64");
    if (!(await this.#store(sessionId, beginning, { kind: "create", workspaceRoot, time, owner, user, preamble }))) {
      throw sessionExists(sessionId);
    }
    return { sessionId, workspaceRoot, user, title: "", created: time, updated: time, lastSeq: 0, epoch: 1 };
  }

  async head(sessionId: string): Promise<SessionHead | undefined> {
    await this.#caughtUp();
    return this.#options.sessions.head(sessionId);
  }

  async list(filter: SessionFilter): Promise<readonly SessionHead[]> {
    await this.#caughtUp();
    return this.#options.sessions.list(filter);
  }

  async setTitle(sessionId: string, title: string): Promise<void> {
    await this.#writing.run(sessionId, () =>
      this.#appendFree(sessionId, async () => ({ kind: "title", title: title.toWellFormed() })),
    );
  }

  async takeOver(sessionId: string): Promise<number> {
    const { replicaId, isAlive } = this.#options;
    const { epoch } = await this.#writing.run(sessionId, () =>
      this.#appendFree(sessionId, async (place) => {
        // Asked again for every new owner, because a faster replica keeps the session.
        if (place.owner !== "" && place.owner !== replicaId && (await isAlive(place.owner))) {
          throw new AppendConflict(`Session ${sessionId} belongs to another server that is running.`);
        }
        return { kind: "take-over", epoch: place.epoch + 1, owner: replicaId };
      }),
    );
    return epoch;
  }

  /**
   * Removes the session from the copies of all replicas, when each reads the message. The stream keeps what was said, because
   * nobody can rewrite it.
   */
  async forget(sessionId: string, by: string): Promise<ForgottenSession> {
    const { replicaId, isAlive, toolVersion, afterForgetting } = this.#options;
    await this.#writing.run(sessionId, () =>
      this.#appendFree(sessionId, async (place) => {
        if (place.owner !== "" && place.owner !== replicaId && (await isAlive(place.owner))) {
          throw new AppendConflict(`Session ${sessionId} belongs to another server that is running.`);
        }
        return { kind: "forget", by, time: Date.now(), salt: randomBytes(16).toString("hex"), toolVersion };
      }),
    );
    return afterForgetting(sessionId);
  }

  append(sessionId: string, batch: LogBatch, expected: LogPlace): Promise<readonly LoggedEvent[]> {
    return this.#writing.run(sessionId, () => this.#append(sessionId, batch, expected));
  }

  async read(sessionId: string, afterSeq: number, limit: number): Promise<readonly LoggedEvent[]> {
    await this.#caughtUp();
    return this.#options.sessions.read(sessionId, afterSeq, limit);
  }

  async *tail(
    sessionId: string,
    afterSeq: number,
    options: { readonly signal: AbortSignal },
  ): AsyncGenerator<readonly LoggedEvent[], void, undefined> {
    if (options.signal.aborted) return;
    if (this.#options.copy.place(sessionId) === undefined) await this.#caughtUp();
    yield* this.#options.sessions.tail(sessionId, afterSeq, options);
  }

  /** Who owns the session's newest epoch as far as this replica knows; undefined for an unknown session. */
  owner(sessionId: string): string | undefined {
    return this.#place(sessionId)?.owner;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#options.sessions[Symbol.asyncDispose]();
  }

  async #append(sessionId: string, batch: LogBatch, expected: LogPlace): Promise<readonly LoggedEvent[]> {
    const payload = encodeBatch(batch, expected, this.#options.toolVersion);
    let spent = false;
    let place = this.#place(sessionId);
    for (let attempt = 0; ; attempt++) {
      if (place === undefined || !this.#follows(place, expected)) {
        // Others may have written meanwhile: catch up once more, after which the answer is certain.
        await this.#caughtUp();
        place = this.#place(sessionId);
        if (place === undefined) throw unknownSession(sessionId);
        if (!this.#follows(place, expected)) throw appendConflict(sessionId, place, expected);
      }
      if (!spent) await spendTokens(this.#options, batch.spentTokens ?? []);
      spent = true;
      if (await this.#storePayload(sessionId, place, payload)) {
        return numberedEvents(batch.events, expected.seq);
      }
      if (attempt === 20) throw appendConflict(sessionId, place, expected);
      await this.#caughtUp();
      place = this.#place(sessionId);
    }
  }

  /** Appends data that depends only on its position; `make` is called again if another writer was faster. */
  async #appendFree(
    sessionId: string,
    make: (place: LogPosition) => Promise<Extract<SessionMessage, { readonly kind: "title" | "take-over" | "forget" }>>,
  ): Promise<LogPosition> {
    for (let attempt = 0; ; attempt++) {
      await this.#caughtUp();
      const place = this.#place(sessionId);
      if (place === undefined) throw unknownSession(sessionId);
      const message = await make(place);
      if (await this.#store(sessionId, place, message)) {
        const taken = message.kind === "take-over" ? { epoch: message.epoch, owner: message.owner } : {};
        return { ...place, ...taken, number: place.number + 1 };
      }
      if (attempt === 50) throw new AppendConflict(`Session ${sessionId} is written to by others all the time.`);
    }
  }

  #store(sessionId: string, before: Predecessor, message: SessionMessage): Promise<boolean> {
    return this.#storePayload(sessionId, before, encodeMessage(message));
  }

  /**
   * Stores the message after `before`. False if another one has its number. The acknowledgement alone does not decide: the
   * stream's order counts, so this waits until the message is read back.
   */
  async #storePayload(sessionId: string, before: Predecessor, payload: Uint8Array): Promise<boolean> {
    this.#assertOpen();
    const { streams, blobs, follower, copy } = this.#options;
    const limit = (streams.connection.info?.max_payload ?? 1_048_576) - envelope;
    let sent = payload;
    if (payload.length > limit) {
      const { sha256 } = await blobs.put(payload, "application/json");
      sent = encodeMessage({ kind: "elsewhere", sha256 });
    }
    const subject = sessionSubject(streams.namespace, sessionId, before.number + 1);
    const creation = await createOnce(streams.log, subject, {
      id: `${subject}.${randomUUID()}`,
      payload: sent,
      headers: chainHeader(before.digest),
    });
    if (creation.type === "taken") return false;
    await follower.reached(creation.position);
    return !copy.isPassedOver(creation.position);
  }

  #follows(place: LogPosition, expected: LogPlace): boolean {
    return place.seq === expected.seq && place.epoch === expected.epoch && place.owner === this.#options.replicaId;
  }

  #place(sessionId: string): LogPosition | undefined {
    return this.#options.copy.place(sessionId);
  }

  async #caughtUp(): Promise<void> {
    this.#assertOpen();
    await this.#options.follower.caughtUp();
  }

  #assertOpen(): void {
    if (this.#closed) throw new StoreError("closed", "The store is closed: open it again to use it.");
  }
}

/**
 * Spends approval tokens, each once and permanently, before their batch is written. If the batch fails, the token is lost.
 * Rejects with `StoreError` `io` if another writer was faster.
 */
async function spendTokens(
  log: { readonly streams: LogStreams; readonly follower: StreamFollower; readonly copy: LogCopy },
  tokens: readonly string[],
): Promise<void> {
  const { streams, follower, copy } = log;
  const writer = randomUUID();
  for (const token of tokens) {
    if (!isSubjectToken(token)) throw new TypeError("A spent token is named by its digest.");
    const payload = new TextEncoder().encode(JSON.stringify({ writer }));
    const creation = await createOnce(streams.log, tokenSubject(streams.namespace, token), {
      id: `${token}.${writer}`,
      payload,
    });
    if (creation.type === "created") {
      await follower.reached(creation.position);
      if (copy.spentAt(token) === creation.position) continue;
    }
    throw new StoreError("io", "This approval was used before: ask for a new one.");
  }
}

/**
 * A batch as the payload of its message. Its records get their salts here, so that every replica seals the same. Throws where
 * one could not be sealed: no replica could go past such a message.
 */
function encodeBatch(batch: LogBatch, expected: LogPlace, toolVersion: string): Uint8Array {
  const message: SessionMessage = {
    kind: "batch",
    seq: expected.seq,
    epoch: expected.epoch,
    events: [...batch.events],
    ledger: batch.ledger.map((entry) => ({ entry, salt: randomBytes(16).toString("hex") })),
    spentTokens: [...(batch.spentTokens ?? [])],
    toolVersion,
  };
  assertSealable(message);
  const payload = encodeMessage(message);
  // As it will be read.
  if (batch.ledger.length > 0) assertSealable(decodeMessage(payload));
  return payload;
}

function assertSealable(message: SessionMessage): void {
  if (message.kind !== "batch") return;
  const signer = { keyId: "", sign: () => new Uint8Array(64) };
  for (const { entry, salt } of message.ledger) sealRecord(entry, { seq: 2, previousHash: "" }, signer, { salt });
}
