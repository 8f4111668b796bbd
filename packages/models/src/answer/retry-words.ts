import { ModelError } from "@gennai/agent/model";

/** Said while nobody is asked. @param wait `delay` in milliseconds, and which try comes then */
export function askingAgain(
  { message }: ModelError,
  { delay, attempt, most }: { readonly delay: number; readonly attempt: number; readonly most: number },
): string {
  return `${asSentence(message)} Asking again in ${seconds(delay)} (try ${attempt} of ${most}).`;
}

/** What the last of several tries failed with. */
export function lastFailure(error: ModelError, attempts: number): ModelError {
  const { code, message, hint = "Try again later.", retryable } = error;
  return new ModelError(code, `${asSentence(message)} That was try ${attempts}; it was the last.`, {
    hint,
    retryable,
    cause: error,
  });
}

/** Servers end what they say as they like, and something is said behind it. */
export function asSentence(text: string): string {
  return /[.!?…)\]"'”]$/.test(text) ? text : `${text}.`;
}

function seconds(milliseconds: number): string {
  return milliseconds < 1_000 ? "a moment" : `${Math.ceil(milliseconds / 1_000)} s`;
}
