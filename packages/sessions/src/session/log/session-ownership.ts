import type { ClientRequest } from "@gennai/agent/events/client-request";

/** Sessions that belong to one of several servers at a time, for as long as that one runs. */
export interface SessionOwnership {
  /** The other server that owns the session and runs; undefined when the session is ours, or its owner is gone. */
  otherOwner(sessionId: string): Promise<string | undefined>;
  /** Whether the newest epoch is ours. */
  isOurs(sessionId: string): boolean;
  /** An open request as anyone who may answer it gets it, from the owner; undefined when it is ours or over. */
  exactRequest(sessionId: string, requestId: string): Promise<ClientRequest | undefined>;
}
