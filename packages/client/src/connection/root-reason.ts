/** Why something failed at the bottom: `fetch` says only that it failed, and keeps the reason as its cause. Empty when nothing says. */
export function rootReason(error: unknown): string {
  let cause = error;
  let reason = "";
  while (cause instanceof Error) {
    // Several addresses were tried: each has its own.
    const [first] = cause instanceof AggregateError ? (cause.errors as readonly unknown[]) : [];
    reason = cause.message === "" ? reason : cause.message;
    cause = first ?? cause.cause;
  }
  return reason;
}
