import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fsync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { promisify } from "node:util";
import { hasCode } from "@gennai/machine/system-error";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import { syncDirectory } from "@gennai/machine/workspace/files/sync-directory";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import { StoreError } from "../database/store-error.ts";
import type { BlobStore } from "../log/session-log.ts";

/** Blobs as files, `<directory>/ab/<sha256>`, 0600. A blob is there whole or not at all. */
export class FileBlobStore implements BlobStore {
  readonly #directory: string;
  /** Identities of files that are known to be on disk, by digest. */
  readonly #synced = new Map<string, string>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  async put(
    bytes: Uint8Array,
    mediaType: string,
    { durable = true }: { readonly durable?: boolean } = {},
  ): Promise<BlobRef> {
    const digest = sha256(bytes);
    const reference = { sha256: digest, size: bytes.length, mediaType };
    const file = this.#file(digest);
    const there = statSync(file, { throwIfNoEntry: false });
    // A file of another size was damaged: it is replaced.
    if (there?.size === bytes.length && this.#touch(file)) {
      if (!durable || this.#synced.get(digest) === fileId(there) || (await this.#syncThere(file, bytes)))
        return reference;
    }

    const directory = dirname(file);
    const created = mkdirSync(directory, { recursive: true, mode: 0o700 });
    const temporary = join(directory, `.${digest}.${process.pid}.${randomBytes(6).toString("hex")}`);
    try {
      // Only the disk is waited for in another thread: to hand over the rest would take longer than to do it.
      const descriptor = openSync(temporary, "wx", 0o600);
      try {
        await writeAll(descriptor, bytes);
        if (durable) await fsyncAsync(descriptor);
      } finally {
        closeSync(descriptor);
      }
      renameSync(temporary, file);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    if (!durable) return reference;
    await this.#nameSynced(file, created !== undefined);
    return reference;
  }

  /**
   * The one who put it did not wait for the disk, or was another process of which nobody knows. False when it holds other bytes: a
   * power cut came before they were on the disk.
   */
  async #syncThere(file: string, bytes: Uint8Array): Promise<boolean> {
    const handle = await open(file, constants.O_RDWR | (constants.O_NOFOLLOW ?? 0)).catch(() => undefined);
    if (handle === undefined) return false;
    try {
      if (!(await handle.readFile()).equals(bytes)) return false;
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await this.#nameSynced(file, true);
    return true;
  }

  /** Remembers that this very file is on disk, when its name is. */
  async #nameSynced(file: string, isInNewDirectory: boolean): Promise<void> {
    await Promise.all([syncDirectory(dirname(file)), isInNewDirectory ? syncDirectory(this.#directory) : undefined]);
    const there = statSync(file, { throwIfNoEntry: false });
    if (there === undefined) return;
    if (this.#synced.size >= mostRemembered) this.#synced.clear();
    this.#synced.set(basename(file), fileId(there));
  }

  /** Rejects with `StoreError` `corrupt_blob` when the file's bytes are not those it is named after. */
  async get(sha256: string): Promise<Uint8Array | undefined> {
    // Comes from clients: nothing but a digest may become part of a path.
    if (!/^[0-9a-f]{64}$/.test(sha256)) return undefined;
    let bytes: Uint8Array;
    try {
      const handle = await open(this.#file(sha256), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
      try {
        bytes = await handle.readFile();
      } finally {
        await handle.close();
      }
    } catch (error) {
      if (hasCode(error, "ENOENT")) return undefined;
      throw error;
    }
    if (createHash("sha256").update(bytes).digest("hex") === sha256) return bytes;
    throw new StoreError(
      "corrupt_blob",
      `The stored content ${sha256} is damaged on disk: restore the state directory from a backup.`,
    );
  }

  /** Marks the blob as needed again, for concurrent removals. False if it is gone. */
  #touch(file: string): boolean {
    const now = new Date();
    try {
      utimesSync(file, now, now);
      return true;
    } catch (error) {
      if (hasCode(error, "ENOENT")) return false;
      throw error;
    }
  }

  #file(sha256: string): string {
    return join(this.#directory, sha256.slice(0, 2), sha256);
  }
}

/** Differs for another file in its place, and after a change of the file. */
function fileId({ ino, birthtimeMs, size }: Stats): string {
  return `${ino} ${birthtimeMs} ${size}`;
}

const mostRemembered = 10_000;

async function writeAll(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(descriptor, bytes, written, Math.min(oneTickBytes, bytes.length - written));
    if (written < bytes.length) await nextTick();
  }
}

/** Bytes that are written without letting others go first. */
const oneTickBytes = 1_048_576;
const fsyncAsync = promisify(fsync);
