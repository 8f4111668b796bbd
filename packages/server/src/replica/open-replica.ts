import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { ClientRequest } from "@gennai/agent/events/client-request";
import type { StandingCheck } from "@gennai/governance/gate/standing-check";
import { allow, deny } from "@gennai/governance/verdict";
import type { SharedLocks } from "@gennai/machine/process/locks/process-lock";
import type { ServerLog } from "@gennai/machine/server-log";
import { ServiceError } from "@gennai/machine/service-error";
import { EmergencyStore } from "@gennai/sessions/rules/emergency-store";
import type { SessionOwnership } from "@gennai/sessions/session/owned-log";
import { derivedKey } from "@gennai/store/ledger/derived-key";
import { isDistrusted, removeDistrusted } from "@gennai/store/nats/copy-trust";
import { createOnce } from "@gennai/store/nats/create-once";
import type { LogAddress } from "@gennai/store/nats/log-address";
import { encodeLock, lockSubject } from "@gennai/store/nats/log-message";
import type { NatsSessionLog } from "@gennai/store/nats/nats-session-log";
import { type NatsStore, openNatsStore } from "@gennai/store/nats/open-nats-store";
import { ReplicaInbox } from "./inbox.ts";
import { MessageProofs } from "./message-proof.ts";
import { ReplicaPresence } from "./presence.ts";
import { SharedEmergency } from "./shared-emergency.ts";

/** One of several servers that share a log. */
export interface Replica extends AsyncDisposable {
  readonly store: NatsStore;
  readonly presence: ReplicaPresence;
  readonly inbox: ReplicaInbox;
  readonly ownership: ReplicaOwnership;
  readonly emergency: SharedEmergency;
  /** Between all replicas. */
  readonly locks: SharedLocks;
  /** Refuses every effect, and stops running ones, while another replica may have taken over this one's sessions. */
  readonly standingCheck: StandingCheck;
  /** False while others may have taken over its sessions, and while its calls would fail because it cannot follow the log. */
  readonly mayAct: boolean;
  /** Throws `ServiceError` `unavailable` while this replica may not act. */
  assertMayAct(): void;
}

export interface ReplicaOptions {
  readonly address: LogAddress;
  readonly version: string;
  readonly log: ServerLog;
  /** Called when its copy of the log has to be made anew, which opening it again does. */
  readonly onDistrusted: () => void;
}

/** Joins the servers that share a log. Rejects with `StoreError`. */
export async function openReplica(stateDir: string, options: ReplicaOptions): Promise<Replica> {
  await removeDistrusted(stateDir);
  try {
    return await joined(stateDir, options);
  } catch (error) {
    if (!isDistrusted(stateDir)) throw error;
  }
  await removeDistrusted(stateDir);
  return joined(stateDir, options);
}

async function joined(stateDir: string, options: ReplicaOptions): Promise<Replica> {
  const { log } = options;
  const replicaId = `r${randomBytes(8).toString("hex")}`;
  await using parts = new AsyncDisposableStack();
  const presences: ReplicaPresence[] = [];
  const emergencyStore = parts.use(
    await EmergencyStore.open(stateDir, {
      toolVersion: options.version,
      now: Date.now,
      shared: true,
      onWarning: (text) => log.warn(text),
    }),
  );
  const emergency = new SharedEmergency(emergencyStore, options.version);
  const store = parts.use(
    await openNatsStore(stateDir, {
      address: options.address,
      replicaId,
      toolVersion: options.version,
      isAlive: async (_streams, other) => (await presences[0]?.isAlive(other)) ?? true,
      onControl: (message) => emergency.take(message),
      onWarning: (text) => log.warn(text),
      onFailure: (error) => {
        log.error("This server cannot follow the log any more.", error);
        if (isDistrusted(stateDir)) options.onDistrusted();
      },
    }),
  );
  emergency.attach(store);
  const present = parts.use(await ReplicaPresence.start(store.streams, replicaId));
  presences.push(present);
  const inbox = parts.use(
    new ReplicaInbox({
      streams: store.streams,
      presence: present,
      blobs: store.blobs,
      proofs: new MessageProofs(await derivedKey(stateDir, "gennai replica inbox", options.address.namespace)),
      onError: (error) => log.error("A request of another server failed.", error),
    }),
  );
  const mayAct = (): boolean => present.isConfirmed && store.follower.isCurrent;
  const opened = parts.move();
  return {
    store,
    presence: present,
    inbox,
    emergency,
    locks: new ReplicaLocks(store, present, (error) => log.error("A lock could not be given back.", error)),
    ownership: new ReplicaOwnership(store.log, present, inbox),
    standingCheck: {
      check: () =>
        present.isConfirmed
          ? allow
          : deny({
              code: "gate_failed",
              rule: "replica/lost-contact",
              reason: "This server lost contact with the log, and another one may have taken the session over.",
              retryable: true,
            }),
      onChange: (listener) => present.onChange(listener),
    },
    get mayAct() {
      return mayAct();
    },
    assertMayAct() {
      if (mayAct()) return;
      throw new ServiceError("unavailable", "This server has no contact with the log.", {
        hint: "Try again in some seconds.",
      });
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** A session belongs to the replica of its newest epoch, as long as that one's heartbeat is valid. */
class ReplicaOwnership implements SessionOwnership {
  readonly #log: NatsSessionLog;
  readonly #presence: ReplicaPresence;
  readonly #inbox: ReplicaInbox;

  constructor(log: NatsSessionLog, presence: ReplicaPresence, inbox: ReplicaInbox) {
    this.#log = log;
    this.#presence = presence;
    this.#inbox = inbox;
  }

  async otherOwner(sessionId: string): Promise<string | undefined> {
    // Our own copy may lag behind a take-over by another: it cannot lag behind one of ours.
    if (this.isOurs(sessionId) && this.#presence.isConfirmed) return undefined;
    await this.#log.head(sessionId);
    const owner = this.#log.owner(sessionId);
    if (owner === undefined || owner === "" || owner === this.#presence.replicaId) return undefined;
    return (await this.#presence.isAlive(owner)) ? owner : undefined;
  }

  isOurs(sessionId: string): boolean {
    return this.#log.owner(sessionId) === this.#presence.replicaId;
  }

  async exactRequest(sessionId: string, requestId: string): Promise<ClientRequest | undefined> {
    const owner = await this.otherOwner(sessionId);
    if (owner === undefined) return undefined;
    const answer = await this.#inbox.send(owner, "exact-request", {
      head: { session: sessionId, request: requestId },
      body: new Uint8Array(),
    });
    if (answer.body.length === 0) return undefined;
    const request: unknown = JSON.parse(new TextDecoder().decode(answer.body));
    return isRequest(request, requestId) ? request : undefined;
  }
}

/** The owner made it, with the code that is here, too. */
function isRequest(value: unknown, requestId: string): value is ClientRequest {
  return typeof value === "object" && value !== null && "requestId" in value && value.requestId === requestId;
}

const attempts = 20;

/** Locks between replicas, as messages of the log: held until released, or until the holder is gone. */
class ReplicaLocks implements SharedLocks {
  readonly #store: NatsStore;
  readonly #presence: ReplicaPresence;
  readonly #onError: (error: unknown) => void;

  constructor(store: NatsStore, presence: ReplicaPresence, onError: (error: unknown) => void) {
    this.#store = store;
    this.#presence = presence;
    this.#onError = onError;
  }

  /** The caller prevents concurrent requests of this process for the same name. */
  async tryAcquire(name: string, what: string): ReturnType<SharedLocks["tryAcquire"]> {
    const { copy, follower } = this.#store;
    const { replicaId } = this.#presence;
    const digest = digestOf(name);
    for (let attempt = 0; attempt < attempts; attempt++) {
      await follower.caughtUp();
      const now = copy.lock(digest);
      const isHeld = now !== undefined && now.replica !== "" && now.replica !== replicaId;
      if (isHeld && (await this.#presence.isAlive(now.replica))) {
        return { type: "held", by: `${now.what}, at server ${now.replica}` };
      }
      const number = (now?.number ?? 0) + 1;
      if (!(await this.#write(digest, number, replicaId, what))) continue;
      const release = (): void => {
        this.#write(digest, number + 1, "", "").catch(this.#onError);
      };
      return { type: "acquired", lock: { [Symbol.dispose]: release } };
    }
    return { type: "held", by: "other servers, one after the other" };
  }

  async released(name: string, signal: AbortSignal): Promise<void> {
    const { copy, follower } = this.#store;
    const digest = digestOf(name);
    const before = copy.lock(digest);
    if (before === undefined || before.replica === "" || before.replica === this.#presence.replicaId) return;
    // One that is gone gives nothing back.
    while (copy.lock(digest)?.number === before.number && (await this.#presence.isAlive(before.replica))) {
      await follower.moved(signal);
    }
  }

  async #write(digest: string, number: number, replica: string, what: string): Promise<boolean> {
    const { streams, follower, copy } = this.#store;
    const subject = lockSubject(streams.namespace, digest, number);
    const message = { id: `${subject}.${randomUUID()}`, payload: encodeLock({ replica, what }) };
    const creation = await createOnce(streams.log, subject, message);
    if (creation.type === "taken") return false;
    await follower.reached(creation.position);
    return copy.lock(digest)?.position === creation.position;
  }
}

function digestOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 32);
}
