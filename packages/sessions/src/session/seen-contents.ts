import { Buffer } from "node:buffer";
import type { Redactor } from "@gennai/governance/redaction";
import type { BlobStore } from "@gennai/store/log/session-log";

/** Bytes of one file that are kept at all, of all that are kept in memory, and of one that goes to disk at a turn's end. */
const maxFile = 1024 * 1024;
const maxTotal = 8 * 1024 * 1024;
const maxStored = 256 * 1024;

/**
 * The bytes a session last saw of files, by their digest: the newest in memory, and at the end of a turn as blobs, so that
 * they are there when the session is opened again. What is too large or too old is not kept, and nothing with a secret in it
 * goes to disk.
 */
export class SeenContents {
  readonly #blobs: BlobStore;
  readonly #redactor: Redactor;
  readonly #kept = new Map<string, Uint8Array>();
  readonly #stored = new Set<string>();
  #total = 0;

  constructor(blobs: BlobStore, redactor: Redactor) {
    this.#blobs = blobs;
    this.#redactor = redactor;
  }

  keep(sha256: string, bytes: Uint8Array): void {
    if (bytes.length > maxFile) return;
    this.#drop(sha256);
    this.#kept.set(sha256, bytes);
    this.#total += bytes.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#total <= maxTotal) break;
      this.#drop(oldest);
    }
  }

  /** Undefined when it is not kept any more. */
  async get(sha256: string): Promise<Uint8Array | undefined> {
    return this.#kept.get(sha256) ?? (await this.#blobs.get(sha256).catch(() => undefined));
  }

  /** Never rejects: without a blob, a later question only has no answer. */
  async store(): Promise<void> {
    const missing = [...this.#kept].filter(([sha256, bytes]) => !this.#stored.has(sha256) && bytes.length <= maxStored);
    for (const [sha256, bytes] of missing) {
      // Reading a file puts no secret of it on disk a second time.
      const text = Buffer.from(bytes).toString("utf8");
      if ((await this.#redactor.redact(text)) !== text) continue;
      const put = await this.#blobs.put(bytes, "application/octet-stream").catch(() => undefined);
      if (put !== undefined) this.#stored.add(sha256);
    }
  }

  clear(): void {
    this.#kept.clear();
    this.#stored.clear();
    this.#total = 0;
  }

  #drop(sha256: string): void {
    this.#total -= this.#kept.get(sha256)?.length ?? 0;
    this.#kept.delete(sha256);
  }
}
