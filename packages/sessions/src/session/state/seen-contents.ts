import { Buffer } from "node:buffer";
import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { Redactor } from "@gennai/governance/redaction";
import type { BlobStore } from "@gennai/store/log/session-log";

/** Maximum bytes: of one file, of everything in memory, and of a file that was only read to be stored on disk. */
export const maxKeptFile = 1024 * 1024;
const maxTotal = 8 * 1024 * 1024;
const maxStored = 256 * 1024;
/** Nothing guaranteed depends on them: without one, a later question only has no answer. */
const loosely = { durable: false } as const;
/** Maximum bytes that one command may store, so that what was read before stays there. */
export const maxKeptOfCommand = maxTotal / 2;

/**
 * The contents that a session last saw of files, by digest: the newest in memory, and as blobs, so that they survive reopening.
 * Written contents are stored soon, read ones at the end of a turn. What is too large or too old is dropped, and nothing with a
 * secret goes to disk.
 */
export class SeenContents {
  readonly #blobs: BlobStore;
  readonly #redactor: Redactor;
  readonly #kept = new Map<string, Uint8Array>();
  /** Done: already stored, or kept by undo. */
  readonly #stored = new Set<string>();
  #total = 0;
  /** By path, the digest of the last written content that is not stored yet. */
  readonly #unstored = new Map<string, string>();
  #storing = Promise.resolve();

  constructor(blobs: BlobStore, redactor: Redactor) {
    this.#blobs = blobs;
    this.#redactor = redactor;
  }

  keep(sha256: string, bytes: Uint8Array): void {
    if (bytes.length > maxKeptFile) return;
    this.#drop(sha256);
    this.#kept.set(sha256, bytes);
    this.#total += bytes.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#total <= maxTotal) break;
      this.#drop(oldest);
    }
  }

  /** Undefined if it is no longer kept. */
  async get(sha256: string): Promise<Uint8Array | undefined> {
    return this.#kept.get(sha256) ?? (await this.#blobs.get(sha256).catch(() => undefined));
  }

  /** The same for showing to users: also undefined if it contains a secret. */
  async shown(sha256: string): Promise<Uint8Array | undefined> {
    const bytes = await this.get(sha256);
    return bytes !== undefined && (await this.#isWithoutSecrets(bytes)) ? bytes : undefined;
  }

  /** Never rejects: without a blob, a later question only has no answer. */
  async store(): Promise<void> {
    this.#storeUnstored();
    await this.#storing;
    await this.#store([...this.#kept].filter(([, bytes]) => bytes.length <= maxStored));
  }

  /** Stores files' contents after a change, so that users can be shown them later; only `store` waits for it. */
  storeWritten(files: readonly Pick<FileChangeRecord, "afterSha256">[]): void {
    const digests = new Set(files.map(({ afterSha256 }) => afterSha256));
    const written = [...this.#kept].filter(([sha256]) => digests.has(sha256));
    if (written.length > 0) this.#storing = this.#storing.then(() => this.#store(written)).catch(() => undefined);
  }

  /**
   * The same within a turn, which may change a file repeatedly: stored with the next change of other files, or with `store`.
   * Versions in between are the before-contents that undo keeps, unless someone else changed the file meanwhile.
   */
  storeLastWritten(files: readonly Pick<FileChangeRecord, "path" | "beforeSha256" | "afterSha256">[]): void {
    for (const { path, beforeSha256 } of files) {
      const between = this.#unstored.get(path);
      if (between === undefined || between !== beforeSha256) continue;
      this.#stored.add(between);
      this.#unstored.delete(path);
    }
    this.#storeUnstored();
    for (const { path, afterSha256 } of files) {
      if (afterSha256 !== undefined && !this.#stored.has(afterSha256)) this.#unstored.set(path, afterSha256);
    }
  }

  #storeUnstored(): void {
    const last = [...this.#unstored.values()].map((afterSha256) => ({ afterSha256 }));
    this.#unstored.clear();
    this.storeWritten(last);
  }

  async #store(contents: readonly (readonly [string, Uint8Array])[]): Promise<void> {
    for (const [sha256, bytes] of contents) {
      if (this.#stored.has(sha256)) continue;
      // Reading a file must not put its secrets on disk a second time.
      if (!(await this.#isWithoutSecrets(bytes))) continue;
      const put = await this.#blobs.put(bytes, "application/octet-stream", loosely).catch(() => undefined);
      if (put !== undefined) this.#stored.add(sha256);
    }
  }

  async #isWithoutSecrets(bytes: Uint8Array): Promise<boolean> {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
    return (await this.#redactor.redact(text)) === text;
  }

  clear(): void {
    this.#kept.clear();
    this.#stored.clear();
    this.#unstored.clear();
    this.#total = 0;
  }

  #drop(sha256: string): void {
    this.#total -= this.#kept.get(sha256)?.length ?? 0;
    this.#kept.delete(sha256);
  }
}
