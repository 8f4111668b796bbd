export type EditorErrorCode =
  | "outside_workspace"
  | "bad_path"
  | "not_found"
  | "not_a_file"
  | "not_text"
  | "too_large"
  | "unsupported_encoding"
  | "unsaved_changes"
  | "stale_file"
  | "exists_already"
  | "read_only"
  | "duplicate_change"
  | "conflict"
  | "incomplete_change"
  | "not_applied"
  | "not_restored"
  | "not_saved"
  | "busy"
  | "not_reverted"
  | "untrusted_workspace"
  | "bad_command"
  | "no_shell"
  | "no_shell_integration"
  | "wrong_directory"
  | "terminal_closed"
  | "not_observed"
  | "no_model"
  | "model_refused"
  | "no_git"
  | "no_repository"
  | "dirty_tree"
  | "branch_failed";

/**
 * Why the editor did not do what it was asked. The message names the file or command and what is wrong; `next` is what a
 * person can do about it. A model reads both, a notification shows both.
 */
export class EditorError extends Error {
  readonly code: EditorErrorCode;
  readonly next: string;
  override readonly name = "EditorError";

  constructor(code: EditorErrorCode, what: string, next: string, options: { readonly cause?: unknown } = {}) {
    super(`${what} ${next}`.trim(), options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.next = next;
  }
}

/** What went wrong, for the end of a sentence. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : String(error);
}
