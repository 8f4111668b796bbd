import { type Backend, backendWords } from "@gennai/protocol/model/session/backend";
import type { AgentClient } from "../../connection/connection.ts";

export interface KeyToHand {
  readonly backend: Backend;
  /** Of a server of one's own; empty: of a provider that all know. No other address gets the key. */
  readonly baseUrl: string;
  /** Empty: forget it. */
  readonly key: string;
}

/** Hands a provider's key to the server, which keeps it in memory until it ends. Throws `ConnectError`. */
export async function setModelKey(
  client: AgentClient,
  { backend, baseUrl, key }: KeyToHand,
  options: { readonly signal: AbortSignal },
): Promise<void> {
  await client.setModelKey({ backend: backendWords.toMessage(backend), baseUrl, key }, options);
}
