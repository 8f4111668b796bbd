import { type BackOff, backOffDelay, defaultBackOff, pause } from "./back-off.ts";
import { askedPause, callFailure, doubtfulAttempts } from "./call-failure.ts";

/**
 * Repeats a call that the server takes as the same one when it comes twice. Rejects with the last error, or with the
 * signal's reason.
 * @param attempts how often at most; passing failures are repeated until then, doubtful ones five times
 */
export async function retryingCall<Result>(
  call: () => Promise<Result>,
  options: { readonly signal: AbortSignal; readonly attempts: number; readonly backOff?: BackOff },
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    options.signal.throwIfAborted();
    try {
      return await call();
    } catch (error) {
      options.signal.throwIfAborted();
      const failure = callFailure(error);
      const most = failure === "doubtful" ? Math.min(options.attempts, doubtfulAttempts) : options.attempts;
      if (failure === "final" || attempt >= most) throw error;
      const delay = Math.max(askedPause(error), backOffDelay(attempt, options.backOff ?? defaultBackOff));
      await pause(delay, { signal: options.signal });
    }
  }
}
