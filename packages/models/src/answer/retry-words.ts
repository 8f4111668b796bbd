import { ModelError } from "@gennai/agent/model";
import { asSentence } from "@gennai/protocol/as-sentence";

/** Said while nobody is asked. @param wait `delay` in milliseconds, and which try comes then */
export function askingAgain(
  { message }: ModelError,
  { delay, attempt, most }: { readonly delay: number; readonly attempt: number; readonly most: number },
): string {
  return `${asSentence(message)} Asking again in ${seconds(delay)} (request ${attempt} of ${most}).`;
}

/** What the last of several tries failed with. */
export function lastFailure(error: ModelError, attempts: number): ModelError {
  const { code, message, hint = "Try again later.", retryable } = error;
  return new ModelError(code, `${asSentence(message)} That was the last of ${attempts} requests.`, {
    hint,
    retryable,
    cause: error,
  });
}

function seconds(milliseconds: number): string {
  return milliseconds < 1_000 ? "a moment" : `${Math.ceil(milliseconds / 1_000)} s`;
}
