import type { TurnSession } from "./run-turn.ts";

/** Does something while a session is followed. `AgentSession.whileAttached` says more. */
export async function whileAttached<Value>(
  session: Pick<TurnSession, "lastSeq" | "follow">,
  work: () => Promise<Value>,
  { signal }: { readonly signal: AbortSignal },
): Promise<Value> {
  const leaving = new AbortController();
  const attached = Promise.withResolvers<void>();
  const events = session.follow({
    afterSeq: session.lastSeq,
    signal: AbortSignal.any([signal, leaving.signal]),
    onConnection: (change) => {
      if (change.state === "connected") attached.resolve();
    },
  });
  const followed = (async () => {
    for await (const _ of events);
  })();
  const broken = new Promise<never>((_, reject) => {
    followed.catch(reject);
  });
  broken.catch(() => undefined);
  try {
    await Promise.race([attached.promise, broken]);
    return await Promise.race([work(), broken]);
  } finally {
    leaving.abort();
    await followed.catch(() => undefined);
  }
}
