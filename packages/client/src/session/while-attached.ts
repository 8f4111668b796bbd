import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { FollowOptions } from "./follow-options.ts";
import type { TurnSession } from "./run-turn.ts";

export interface AttachedOptions extends Pick<FollowOptions, "signal" | "onProblem"> {
  /** Each is waited for before the next. */
  readonly onEvent?: (event: InvokeEvent) => Promise<void> | void;
  /** Called when the stream ends too early; then `work` goes on alone. Without it, that ends the whole. */
  readonly onBroken?: (error: unknown) => void;
}

/** Does something while a session is followed. `AgentSession.whileAttached` says more. */
export async function whileAttached<Value>(
  session: Pick<TurnSession, "lastSeq" | "follow">,
  work: () => Promise<Value>,
  { signal, onEvent, onProblem, onBroken }: AttachedOptions,
): Promise<Value> {
  const leaving = new AbortController();
  const attached = Promise.withResolvers<void>();
  const events = session.follow({
    afterSeq: session.lastSeq,
    signal: AbortSignal.any([signal, leaving.signal]),
    onConnection: (change) => {
      if (change.state === "connected") attached.resolve();
    },
    ...(onProblem === undefined ? {} : { onProblem }),
  });
  const followed = (async () => {
    for await (const event of events) await onEvent?.(event);
  })();
  const broken = new Promise<never>((_, reject) => {
    followed.catch((error: unknown) => {
      if (onBroken === undefined || leaving.signal.aborted) return reject(error);
      onBroken(error);
      attached.resolve();
    });
  });
  broken.catch(() => undefined);
  try {
    // Who answers must be there before the first question.
    await Promise.race([attached.promise, broken]);
    return await Promise.race([work(), broken]);
  } finally {
    leaving.abort();
    await followed.catch(() => undefined);
  }
}
