import type { ClientRequest } from "@gennai/agent/events/client-request";

/** Assigns each session to one of several servers, for as long as that server runs. */
export interface SessionOwnership {
  /** The other running server that owns the session; undefined if it is ours, or its owner is gone. */
  otherOwner(sessionId: string): Promise<string | undefined>;
  /** Whether the newest epoch is ours. */
  isOurs(sessionId: string): boolean;
  /** The exact open request, from its owner; undefined if it is ours or over. */
  exactRequest(sessionId: string, requestId: string): Promise<ClientRequest | undefined>;
}
