import { hasCode } from "@gennai/machine/system-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { storeErrorOf } from "../database/store-error.ts";
import { type StoreTrouble, storeTrouble } from "../database/store-trouble.ts";

export type CheckpointErrorCode = "git_missing" | "too_large" | "git_failed" | "busy" | "not_kept" | StoreTrouble;

/** A snapshot could not be taken or read. The message says what to do. */
export class CheckpointError extends Error {
  override readonly name = "CheckpointError";
  readonly code: CheckpointErrorCode;

  constructor(code: CheckpointErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}

/** Trouble with the disk that a directory of the state directory lies on, by its name; undefined for every other error. */
export function checkpointTrouble(error: unknown, directory: string): CheckpointError | undefined {
  const isForbidden = hasCode(error, "EACCES") || hasCode(error, "EPERM");
  const trouble = isForbidden ? "disk_read_only" : storeTrouble(storeErrorOf(error, directory));
  if (trouble === undefined) return undefined;
  const reason = errorMessage(error);
  return new CheckpointError(trouble, `${says[trouble]} Checkpoints are in ${directory}: ${reason}`, { cause: error });
}

const says: Readonly<Record<StoreTrouble, string>> = {
  disk_full: "The server's disk is full: free some space.",
  disk_read_only: "The server's disk cannot be written: make the state directory writable.",
  disk_failed: "The server's disk does not work: look at it.",
  too_many_files: "The server has as many files open as it may: try again, or raise the limit (ulimit -n).",
  unavailable: "The server's disk does not answer: try again.",
};
