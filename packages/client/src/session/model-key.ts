import { type Backend, backendWords } from "@gennai/protocol/model/backend";
import type { AgentClient } from "../connection/connection.ts";

/** Hands a provider's key to the server, which keeps it in memory until it ends; an empty one is forgotten. Throws `ConnectError`. */
export async function setModelKey(
  client: AgentClient,
  { backend, key, signal }: { readonly backend: Backend; readonly key: string; readonly signal: AbortSignal },
): Promise<void> {
  await client.setModelKey({ backend: backendWords.toMessage(backend), key }, { signal });
}
