import { statfsSync } from "node:fs";
import { ServiceError } from "@gennai/machine/service-error";

/** Bytes that stay free where the server keeps its state, or a twentieth of a smaller disk. */
const reservedBytes = 256 * 1024 * 1024;
const reservedShare = 1 / 20;
/** Milliseconds for which one look is enough. */
const lookEveryMs = 1_000;

/**
 * Keeps the last of the disk for what runs: its records, its end, and the emergency controls. Nothing new begins on a disk that
 * is nearly full, no matter who filled it.
 */
export class FreeSpace {
  readonly #directory: string;
  readonly #spaceOf: (directory: string) => DiskSpace;
  readonly #now: () => number;
  #looked = Number.NEGATIVE_INFINITY;
  #isShort = false;

  /** @param options.now monotonic; milliseconds */
  constructor(
    directory: string,
    options: { readonly spaceOf?: (directory: string) => DiskSpace; readonly now?: () => number } = {},
  ) {
    this.#directory = directory;
    this.#spaceOf = options.spaceOf ?? spaceOf;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Throws `ServiceError` `resource_exhausted`, reason `disk_full`. */
  assertRoom(): void {
    if (this.#now() - this.#looked >= lookEveryMs) this.#look();
    if (!this.#isShort) return;
    throw new ServiceError("resource_exhausted", "The server's disk is nearly full, so nothing new begins.", {
      reason: "disk_full",
      retryAfterMs: 30_000,
      hint: "The person who runs the server has to free some space; then try again.",
    });
  }

  #look(): void {
    this.#looked = this.#now();
    const { free, size } = this.#spaceOf(this.#directory);
    this.#isShort = free < Math.min(reservedBytes, size * reservedShare);
  }
}

interface DiskSpace {
  /** Bytes that this process may still take. */
  readonly free: number;
  readonly size: number;
}

/** If the disk cannot be examined, it counts as having space. */
function spaceOf(directory: string): DiskSpace {
  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    return { free: bavail * bsize, size: blocks * bsize };
  } catch {
    return { free: Number.POSITIVE_INFINITY, size: 0 };
  }
}
