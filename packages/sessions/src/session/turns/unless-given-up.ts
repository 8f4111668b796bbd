import { ServiceError } from "@gennai/machine/service-error";
import type { PreparedTurn } from "./prepared-turn.ts";

/**
 * The result of `prepare`. If `giveUp` aborts first, `abort` is aborted too, this rejects with a `ServiceError` at once, and a
 * later result is released.
 */
export async function withAbandonSignal(
  prepare: () => Promise<PreparedTurn>,
  { giveUp, abort }: { readonly giveUp: AbortSignal; readonly abort: AbortController },
): Promise<PreparedTurn> {
  if (giveUp.aborted) throw givenUp();
  const { promise, reject } = Promise.withResolvers<never>();
  const onGiveUp = (): void => {
    const error = givenUp();
    reject(error);
    abort.abort(error);
  };
  giveUp.addEventListener("abort", onGiveUp, { once: true });
  const preparing = prepare();
  try {
    return await Promise.race([preparing, promise]);
  } catch (error) {
    preparing.then(
      (late) => late.gate?.[Symbol.dispose](),
      () => undefined,
    );
    throw giveUp.aborted ? givenUp() : error;
  } finally {
    giveUp.removeEventListener("abort", onGiveUp);
  }
}

function givenUp(): ServiceError {
  return new ServiceError("failed_precondition", "The turn was stopped before it began.");
}
