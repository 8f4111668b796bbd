/**
 * Whether a promise settles within so many milliseconds. On a busy machine, time is up before this process has read what came
 * in time from others, e.g. the last output of a program: that is read first.
 */
export async function settlesWithin(promise: Promise<unknown>, withinMs: number): Promise<boolean> {
  const { promise: elapsed, resolve } = Promise.withResolvers<boolean>();
  // An immediate runs after the event loop has read from all descriptors that have something.
  const timer = setTimeout(() => setImmediate(resolve, false), withinMs);
  try {
    return await Promise.race([promise.then(() => true), elapsed]);
  } finally {
    clearTimeout(timer);
  }
}
