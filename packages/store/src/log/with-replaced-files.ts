import type { ReplacedFiles } from "@gennai/machine/stage/commit/replaced-files";
import type { BlobStore } from "./session-log.ts";

/** Bytes. Larger files are for no view, and undo copies them as files. */
const maxBytes = 16 * 1024 * 1024;

/** Blobs, and behind them the files that commits replaced, while these are kept. */
export function withReplacedFiles(blobs: BlobStore, replaced: Pick<ReplacedFiles, "read">): BlobStore {
  return {
    put: (...args) => blobs.put(...args),
    get: async (sha256) => (await blobs.get(sha256)) ?? replaced.read(sha256, { maxBytes }),
  };
}
