import { ExpectedError } from "@gennai/machine/expected-error";
import { errorMessage } from "@gennai/protocol/error-message";

export type StoreErrorCode =
  | "newer_format"
  | "not_a_store"
  | "corrupt"
  | "disk_full"
  | "read_only"
  | "busy"
  | "io"
  | "closed"
  | "unknown_session"
  | "session_deleted"
  | "session_exists"
  | "unsafe_key"
  | "corrupt_blob"
  | "not_repairable"
  | "bad_bundle"
  | "bad_anchor"
  | "contradicts_anchor"
  | "rolled_back"
  | "unavailable";

/** The store could not do what was asked; nothing was changed. */
export class StoreError extends ExpectedError {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  readonly isWrongInput = false;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Turns SQLite's errors into `StoreError`s; returns other errors unchanged. */
export function storeErrorOf(error: unknown, file: string): unknown {
  const resultCode = sqliteResultCode(error);
  if (resultCode === undefined) return error;
  const [code, advice] = sqliteCodes.get(resultCode & 0xff) ?? ["io", "See the cause"];
  return new StoreError(code, `${file}: ${errorMessage(error)}. ${advice}.`, { cause: error });
}

/** SQLite's (extended) result code; undefined for other errors. */
export function sqliteResultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_SQLITE_ERROR") return undefined;
  return "errcode" in error && typeof error.errcode === "number" ? error.errcode : undefined;
}

export const sqliteBusy = 5;

/** https://www.sqlite.org/rescode.html */
const sqliteCodes: ReadonlyMap<number, readonly [StoreErrorCode, string]> = new Map([
  [5, ["busy", "Another process holds the database; try again when it is done"]],
  [6, ["busy", "Another process holds the database; try again when it is done"]],
  [8, ["read_only", "Make the state directory writable or set GENNAI_STATE_DIR to one that is"]],
  [10, ["io", "Check the disk; the state directory must be on a local file system"]],
  [11, ["corrupt", "The file is damaged: restore it from a backup or move it away to start anew"]],
  [13, ["disk_full", "Free some space and try again; nothing was written"]],
  [14, ["read_only", "The file cannot be opened: check the permissions of the state directory"]],
  [26, ["not_a_store", "The file is not a database of Gennai: move it away to start anew"]],
] as const);
