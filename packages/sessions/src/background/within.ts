/** Resolves when the promise does, that time is over, or the signal aborts. */
export async function within(promise: Promise<void>, waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(() => over.resolve(), waitMs);
  const stop = () => over.resolve();
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted === true) stop();
  try {
    await Promise.race([promise, over.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}
