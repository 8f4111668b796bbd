import { randomUUID } from "node:crypto";
import { StoreError } from "../database/store-error.ts";
import type { LogCopy } from "./log-copy.ts";
import { isSubjectToken, tokenSubject } from "./log-message.ts";
import { createOnce } from "./stream/create-once.ts";
import type { LogStreams } from "./stream/log-streams.ts";
import type { StreamFollower } from "./stream/stream-follower.ts";

/**
 * Spends approval tokens, each once and permanently, before their batch is written. If the batch fails, the token is lost.
 * Rejects with `StoreError` `io` if another writer was faster.
 */
export async function spendTokens(
  log: { readonly streams: LogStreams; readonly follower: StreamFollower; readonly copy: LogCopy },
  tokens: readonly string[],
): Promise<void> {
  const { streams, follower, copy } = log;
  const writer = randomUUID();
  for (const token of tokens) {
    if (!isSubjectToken(token)) throw new TypeError("A spent token is named by its digest.");
    const payload = new TextEncoder().encode(JSON.stringify({ writer }));
    const creation = await createOnce(streams.log, tokenSubject(streams.namespace, token), {
      id: `${token}.${writer}`,
      payload,
    });
    if (creation.type === "created") {
      await follower.reached(creation.position);
      if (copy.spentAt(token) === creation.position) continue;
    }
    throw new StoreError("io", "This approval was used before: ask for a new one.");
  }
}
