import { randomBytes } from "node:crypto";
import type { StandingCheck } from "@gennai/governance/gate/standing-check";
import { allow, deny } from "@gennai/governance/verdict";
import type { SharedLocks } from "@gennai/machine/process/locks/process-lock";
import type { ServerLog } from "@gennai/machine/server-log";
import { ServiceError } from "@gennai/machine/service-error";
import { EmergencyStore } from "@gennai/sessions/rules/emergency-store";
import { derivedKey } from "@gennai/store/ledger/derived-key";
import { isDistrusted, removeDistrusted } from "@gennai/store/nats/copy-trust";
import { type NatsStore, openNatsStore } from "@gennai/store/nats/open-nats-store";
import type { LogAddress } from "@gennai/store/nats/stream/log-address";
import { ReplicaInbox } from "./inbox.ts";
import { MessageProofs } from "./message-proof.ts";
import { ReplicaPresence } from "./presence.ts";
import { ReplicaLocks } from "./replica-locks.ts";
import { ReplicaOwnership } from "./replica-ownership.ts";
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
