import { randomBytes } from "node:crypto";
import type { StandingCheck } from "@gennai/governance/gate/execute/standing-check";
import { allow, deny } from "@gennai/governance/verdict";
import type { SharedLocks } from "@gennai/machine/process/locks/process-lock";
import type { ServerLog } from "@gennai/machine/server-log";
import { ServiceError } from "@gennai/machine/service-error";
import { EmergencyStore } from "@gennai/sessions/emergency/emergency-store";
import { derivedKey } from "@gennai/store/ledger/keys/derived-key";
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
  /** Throws `ServiceError` `unavailable` while this replica may not act. */
  assertMayAct(): void;
}

/** Joins the servers that share a log. Rejects with `StoreError`. */
export async function openReplica(
  stateDir: string,
  options: { readonly address: LogAddress; readonly version: string; readonly log: ServerLog },
): Promise<Replica> {
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
      onFailure: (error) => log.error("This server cannot follow the log any more; restart it.", error),
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
    assertMayAct() {
      if (present.isConfirmed) return;
      throw new ServiceError("unavailable", "This server has no contact with the log.", {
        hint: "Try again in some seconds.",
      });
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
