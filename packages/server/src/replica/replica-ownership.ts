import type { ClientRequest } from "@gennai/agent/events/client-request";
import type { SessionOwnership } from "@gennai/sessions/session/log/session-ownership";
import type { NatsSessionLog } from "@gennai/store/nats/nats-session-log";
import type { ReplicaInbox } from "./inbox.ts";
import type { ReplicaPresence } from "./presence.ts";

/** A session belongs to the replica of its newest epoch, as long as that one's heartbeat is valid. */
export class ReplicaOwnership implements SessionOwnership {
  readonly #log: NatsSessionLog;
  readonly #presence: ReplicaPresence;
  readonly #inbox: ReplicaInbox;

  constructor(log: NatsSessionLog, presence: ReplicaPresence, inbox: ReplicaInbox) {
    this.#log = log;
    this.#presence = presence;
    this.#inbox = inbox;
  }

  async otherOwner(sessionId: string): Promise<string | undefined> {
    // Our own copy may lag behind a take-over by another: it cannot lag behind one of ours.
    if (this.isOurs(sessionId) && this.#presence.isConfirmed) return undefined;
    await this.#log.head(sessionId);
    const owner = this.#log.owner(sessionId);
    if (owner === undefined || owner === "" || owner === this.#presence.replicaId) return undefined;
    return (await this.#presence.isAlive(owner)) ? owner : undefined;
  }

  isOurs(sessionId: string): boolean {
    return this.#log.owner(sessionId) === this.#presence.replicaId;
  }

  async exactRequest(sessionId: string, requestId: string): Promise<ClientRequest | undefined> {
    const owner = await this.otherOwner(sessionId);
    if (owner === undefined) return undefined;
    const answer = await this.#inbox.send(owner, "exact-request", {
      head: { session: sessionId, request: requestId },
      body: new Uint8Array(),
    });
    if (answer.body.length === 0) return undefined;
    const request: unknown = JSON.parse(new TextDecoder().decode(answer.body));
    return isRequest(request, requestId) ? request : undefined;
  }
}

/** The owner made it, with the code that is here, too. */
function isRequest(value: unknown, requestId: string): value is ClientRequest {
  return typeof value === "object" && value !== null && "requestId" in value && value.requestId === requestId;
}
