import type { SessionAttempts } from "@gennai/client/attempts";
import type { AgentSession } from "@gennai/client/session/agent-session";
import type { Attempt, AttemptSet } from "@gennai/protocol/model/session/attempt";

/**
 * Follows attempts until all have ended, with the events of their session.
 * @param onBegun called once for each attempt that has a session; the watch ends when the returned promises have settled too
 */
export async function watchAttempts(
  session: AgentSession,
  {
    attempts,
    id,
    onBegun,
    signal,
  }: {
    readonly attempts: SessionAttempts;
    readonly id: string;
    readonly onBegun: (attempt: Attempt) => Promise<void>;
    readonly signal: AbortSignal;
  },
): Promise<AttemptSet> {
  const begun = new Map<number, Promise<void>>();
  const look = async (): Promise<AttemptSet> => {
    const set = (await attempts.list({ signal })).find((one) => one.id === id);
    if (set === undefined) throw new Error("The attempts are gone.");
    for (const attempt of set.attempts) {
      if (attempt.sessionId === "" || begun.has(attempt.number)) continue;
      const following = onBegun(attempt);
      following.catch(() => undefined);
      begun.set(attempt.number, following);
    }
    return set;
  };
  let set = await look();
  if (set.isRunning) {
    for await (const { event } of session.follow({ afterSeq: session.lastSeq, signal, maxAttempts: 20 })) {
      // Events of before may have come with the stream, and what they told about is known: the first word is enough to look once.
      if (event.case !== "attemptsChanged" && event.case !== "heartbeat") continue;
      set = await look();
      if (!set.isRunning) break;
    }
  }
  await Promise.all(begun.values());
  return set;
}
