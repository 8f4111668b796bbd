import type { AgentClient } from "../connection/connection.ts";
import { type Backend, settingsFields } from "./settings.ts";

/** Hands a provider's key to the server, which keeps it in memory until it ends; an empty one is forgotten. Throws `ConnectError`. */
export async function setModelKey(
  client: AgentClient,
  { backend, key, signal }: { readonly backend: Backend; readonly key: string; readonly signal: AbortSignal },
): Promise<void> {
  const { backend: wire } = settingsFields({ backend });
  await client.setModelKey({ backend: wire, key }, { signal });
}
