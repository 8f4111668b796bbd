import { readFile } from "node:fs/promises";
import type { ReplacedFiles } from "@gennai/stage/commit/replaced-files";
import type { BlobStore } from "./session-log.ts";

/** Bytes. Larger files are for no view, and undo copies them as files. */
const maxBytes = 16 * 1024 * 1024;

/** Blobs, and behind them the files that commits replaced, while these are kept. */
export function withReplacedFiles(blobs: BlobStore, replaced: Pick<ReplacedFiles, "find">): BlobStore {
  return {
    put: (...args) => blobs.put(...args),
    get: async (sha256) => {
      const stored = await blobs.get(sha256);
      if (stored !== undefined) return stored;
      const path = await replaced.find(sha256, { maxBytes });
      // It may be forgotten meanwhile.
      return path === undefined ? undefined : readFile(path).catch(() => undefined);
    },
  };
}
