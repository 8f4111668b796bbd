import { wordsInEditor } from "@gennai/client/session/text/words-in-editor";
import type { editorErrors } from "@gennai/protocol/errors/editor-errors";

export type EditorErrorCode = keyof typeof editorErrors;

/**
 * Why the editor did not do what it was asked. The message names the file or command and what is wrong; `next` is what a person
 * can do about it. A model reads both, and a notification shows both.
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

/** What went wrong, as the end of a sentence. */
export function reasonOf(error: unknown): string {
  return wordsInEditor(error instanceof Error && error.message !== "" ? error.message : String(error));
}
