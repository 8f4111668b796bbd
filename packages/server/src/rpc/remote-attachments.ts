import { randomUUID } from "node:crypto";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { type SubscribeRequest, SubscribeRequestSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { SessionOwnership } from "@gennai/sessions/session/owned-log";
import type { ReplicaInbox, ReplicaMessage } from "../replica/inbox.ts";
import { clientFromWire } from "./wire/client-from-wire.ts";

/** Milliseconds between signs of a client that listens elsewhere, and how long one sign holds. */
const beat = 2_000;
const lifetime = 8_000;
const nothing = new Uint8Array();

interface Attachment {
  readonly release: Disposable;
  timer: NodeJS.Timeout;
}

/**
 * Clients of one replica that listen to a session of another: they count as attached there while this replica says so. A
 * replica with listeners also notices if the owner is gone, and takes the session over.
 */
export class RemoteAttachments implements Disposable {
  readonly #manager: () => SessionManager;
  readonly #ownership: SessionOwnership;
  readonly #inbox: ReplicaInbox;
  readonly #onError: (error: unknown) => void;
  readonly #attached = new Map<string, Attachment>();

  constructor(options: {
    readonly manager: () => SessionManager;
    readonly ownership: SessionOwnership;
    readonly inbox: ReplicaInbox;
    readonly onError: (error: unknown) => void;
  }) {
    this.#manager = options.manager;
    this.#ownership = options.ownership;
    this.#inbox = options.inbox;
    this.#onError = options.onError;
    this.#inbox.handle("attach", (message) => this.#attachHere(message));
    this.#inbox.handle("detach", async ({ head }) => {
      this.#detach(head["id"] ?? "");
      return { head: {}, body: nothing };
    });
  }

  /** Resolves when the owner knows of the client, if there is another owner. */
  async attach(request: SubscribeRequest): Promise<Disposable> {
    const id = randomUUID();
    const body = toBinary(SubscribeRequestSchema, request);
    const { sessionId } = request;
    let told: string | undefined;
    const look = async (): Promise<void> => {
      const owner = await this.#ownership.otherOwner(sessionId);
      told = owner;
      if (owner !== undefined) await this.#inbox.send(owner, "attach", { head: { id }, body });
      else if (!this.#ownership.isOurs(sessionId)) await this.#adopt(sessionId);
    };
    let looking: Promise<void> | undefined;
    const tick = (): Promise<void> => {
      looking ??= look()
        // The next look finds the same, or another owner.
        .catch(() => undefined)
        .finally(() => {
          looking = undefined;
        });
      return looking;
    };
    await tick();
    const timer = setInterval(() => void tick(), beat);
    let open = true;
    return {
      [Symbol.dispose]: () => {
        if (!open) return;
        open = false;
        clearInterval(timer);
        if (told !== undefined)
          this.#inbox.send(told, "detach", { head: { id }, body: nothing }).catch(() => undefined);
      },
    };
  }

  [Symbol.dispose](): void {
    for (const id of [...this.#attached.keys()]) this.#detach(id);
  }

  /** A client listens to a session whose owner is gone: its turn is ended here, visibly for all. */
  async #adopt(sessionId: string): Promise<void> {
    const session = await this.#manager().get(sessionId);
    await session.follow();
    if (session.state.openTurn === undefined) return;
    try {
      await session.catchUp();
    } catch (error) {
      // Another replica was faster.
      if ((await this.#ownership.otherOwner(sessionId)) === undefined) this.#onError(error);
    }
  }

  async #attachHere({ head, body }: ReplicaMessage): Promise<ReplicaMessage> {
    const id = head["id"] ?? "";
    const known = this.#attached.get(id);
    if (known !== undefined) {
      known.timer.refresh();
      return { head: {}, body: nothing };
    }
    const request = fromBinary(SubscribeRequestSchema, body);
    const session = await this.#manager().get(request.sessionId);
    const release = session.clients.attach(clientFromWire(request.client, session));
    const timer = setTimeout(() => this.#detach(id), lifetime);
    timer.unref();
    this.#attached.set(id, { release, timer });
    return { head: {}, body: nothing };
  }

  #detach(id: string): void {
    const attached = this.#attached.get(id);
    if (attached === undefined) return;
    this.#attached.delete(id);
    clearTimeout(attached.timer);
    attached.release[Symbol.dispose]();
  }
}
