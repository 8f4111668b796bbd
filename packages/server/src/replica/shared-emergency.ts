import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { EmergencyState } from "@gennai/protocol/model/governance/emergency";
import {
  checkedRequest,
  type EmergencyChange,
  type EmergencyRequest,
  emergencyRequestFields,
} from "@gennai/sessions/rules/emergency-change";
import type { EmergencyRecord } from "@gennai/sessions/rules/emergency-controls";
import type { EmergencyStore } from "@gennai/sessions/rules/emergency-store";
import { StoreError } from "@gennai/store/database/store-error";
import { createOnce } from "@gennai/store/nats/create-once";
import type { NatsStore } from "@gennai/store/nats/open-nats-store";
import * as z from "zod";

const messageSchema = z.object({
  ...emergencyRequestFields,
  time: z.number(),
  /** Makes the salts of the ledger records. */
  seed: z.string(),
  toolVersion: z.string(),
});

const attempts = 50;

/** The emergency controls of all replicas of a log: a switching is a message of the log, and takes effect where it is read. */
export class SharedEmergency implements EmergencyRecord {
  readonly #local: EmergencyStore;
  readonly #toolVersion: string;
  /** By the position of their message. */
  readonly #made = new Map<number, EmergencyChange>();
  #store: NatsStore | undefined;

  constructor(local: EmergencyStore, toolVersion: string) {
    this.#local = local;
    this.#toolVersion = toolVersion;
  }

  /** Once the log is open; changes of the past come before. */
  attach(store: NatsStore): void {
    this.#store = store;
  }

  /** Takes a message of the log, in the log's order; ignores messages that are not about the controls. */
  take(message: { readonly position: number; readonly subject: string; readonly payload: Uint8Array }): void {
    const number = Number(/\.ctl\.emergency\.(\d+)$/.exec(message.subject)?.[1] ?? "0");
    if (number !== this.#local.newestNumber + 1) return;
    const { time, seed, toolVersion, ...request } = messageSchema.parse(
      JSON.parse(new TextDecoder().decode(message.payload)),
    );
    const change = this.#local.changeShared(request, {
      number,
      time,
      sealing: (root) => ({
        salts: [createHash("sha256").update(`${seed}:${root}`).digest("hex").slice(0, 32)],
        toolVersion,
      }),
    });
    if (change !== undefined && this.#store !== undefined) this.#made.set(message.position, change);
  }

  current(): EmergencyState & { readonly problem?: string } {
    return this.#local.current();
  }

  async change(asked: EmergencyRequest): Promise<EmergencyChange> {
    const store = this.#store;
    if (store === undefined) throw new StoreError("closed", "The log is not open yet.");
    const { streams, follower } = store;
    const facts = { time: Date.now(), seed: randomBytes(16).toString("hex"), toolVersion: this.#toolVersion };
    const payload = new TextEncoder().encode(JSON.stringify({ ...checkedRequest(asked), ...facts }));
    for (let attempt = 0; attempt < attempts; attempt++) {
      await follower.caughtUp();
      const subject = `${streams.namespace}.ctl.emergency.${this.#local.newestNumber + 1}`;
      const creation = await createOnce(streams.log, subject, { id: `${subject}.${randomUUID()}`, payload });
      if (creation.type === "taken") continue;
      await follower.reached(creation.position);
      const made = this.#made.get(creation.position);
      this.#made.delete(creation.position);
      if (made !== undefined) return made;
    }
    throw new StoreError(
      "busy",
      "Others switch the emergency controls all the time: look at their state and try again.",
    );
  }

  /** Every ledger there is got its record with the change. */
  record(): void {}

  onChange(listener: (changes: readonly EmergencyChange[]) => void): Disposable {
    return this.#local.onChange(listener);
  }
}
