import { type Backend, backendWords } from "@gennai/protocol/model/session/backend";
import type { AgentClient, CallOptions } from "../connection/connection.ts";

export interface KeyToHand {
  readonly backend: Backend;
  /** Address of the user's own server; empty: the provider's public one. The key is sent to no other address. */
  readonly baseUrl: string;
  /** Empty: forget it. */
  readonly key: string;
}

/** Hands a provider's key to the server, which keeps it in memory until it ends. Throws `ConnectError`. */
export async function setModelKey(
  client: AgentClient,
  { backend, baseUrl, key }: KeyToHand,
  options: CallOptions,
): Promise<void> {
  await client.setModelKey({ backend: backendWords.toMessage(backend), baseUrl, key }, options);
}
