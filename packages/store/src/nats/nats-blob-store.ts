import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import type { ObjectStore } from "@nats-io/obj";
import { StoreError } from "../database/store-error.ts";
import type { BlobStore } from "../log/session-log.ts";
import { logUnavailable } from "./stream-follower.ts";

/** Larger contents than this are refused: they would pass through every node of the cluster. */
const maxBytes = 64 * 1024 * 1024;
const attempts = 20;

/** Blobs that every replica finds: in NATS by their digest, beside a private store on this machine that is asked first. */
export class NatsBlobStore implements BlobStore {
  readonly #objects: ObjectStore;
  readonly #near: BlobStore;

  constructor(objects: ObjectStore, near: BlobStore) {
    this.#objects = objects;
    this.#near = near;
  }

  /** Resolves when a majority of the nodes has stored it. Rejects with `StoreError`. */
  async put(bytes: Uint8Array, mediaType: string, options?: { readonly durable?: boolean }): Promise<BlobRef> {
    if (bytes.length > maxBytes) {
      throw new StoreError("io", `A content of ${bytes.length} bytes is too large for a shared log (${maxBytes}).`);
    }
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    await patiently(async () => {
      const known = await this.#objects.info(sha256);
      if (known !== null && !known.deleted && known.size === bytes.length) return;
      await this.#objects.putBlob({ name: sha256, options: { max_chunk_size: 256 * 1024 } }, bytes);
    });
    return this.#near.put(bytes, mediaType, options);
  }

  async get(sha256: string): Promise<Uint8Array | undefined> {
    if (!/^[0-9a-f]{64}$/.test(sha256)) return undefined;
    const near = await this.#near.get(sha256).catch(() => undefined);
    if (near !== undefined) return near;
    const bytes = await patiently(() => this.#objects.getBlob(sha256));
    if (bytes === null) return undefined;
    if (createHash("sha256").update(bytes).digest("hex") !== sha256) {
      throw new StoreError(
        "corrupt_blob",
        `The stored content ${sha256} is damaged in NATS: restore the object store.`,
      );
    }
    await this.#near.put(bytes, "application/octet-stream");
    return bytes;
  }
}

/** Repeats failed work for about 10 s, because nodes come and go. */
async function patiently<Value>(work: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attempts) {
        throw logUnavailable(error);
      }
      await delay(Math.min(50 * attempt, 1_000));
    }
  }
}
