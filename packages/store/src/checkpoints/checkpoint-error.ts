export type CheckpointErrorCode = "git_missing" | "too_large" | "git_failed" | "busy" | "not_kept";

/** A snapshot could not be taken or read. The message says what to do. */
export class CheckpointError extends Error {
  override readonly name = "CheckpointError";
  readonly code: CheckpointErrorCode;

  constructor(code: CheckpointErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.code = code;
  }
}
