/**
 * Whether a promise settles within so many milliseconds. On a busy machine, time is up before this process has read what came
 * in time from others, e.g. the last output of a program: that is read first. An aborted signal ends the wait at once.
 */
export async function settlesWithin(
  promise: Promise<unknown>,
  withinMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const { promise: elapsed, resolve } = Promise.withResolvers<boolean>();
  // An immediate runs after the event loop has read from all descriptors that have something.
  const timer = setTimeout(() => setImmediate(resolve, false), withinMs);
  const stop = () => resolve(false);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    return await Promise.race([promise.then(() => true), elapsed]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}
