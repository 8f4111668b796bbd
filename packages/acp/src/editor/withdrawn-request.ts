/** What an editor answers; rejects as soon as the request is withdrawn, for an editor may never answer then. */
export async function unlessWithdrawn<Answer>(request: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const withdrawn = Promise.withResolvers<never>();
  const withdraw = (): void => withdrawn.reject(signal.reason);
  if (signal.aborted) withdraw();
  signal.addEventListener("abort", withdraw, { once: true });
  request.catch(() => undefined);
  try {
    return await Promise.race([request, withdrawn.promise]);
  } finally {
    signal.removeEventListener("abort", withdraw);
  }
}
