import type { ClientRequest } from "@gennai/agent/events/client-request";

/** What a client can be asked for; `workspace`: it holds the session's files. */
export type ClientAbility = ClientRequest["kind"];

export interface AttachedClient {
  /** The client's own id, stable over reconnects; empty from an original client. */
  readonly clientId: string;
  readonly abilities: ReadonlySet<ClientAbility>;
  /** It speaks the original protocol: it said nothing of itself, so what it answers has to be found out. */
  readonly isOriginal?: boolean;
}

/** Which clients listen to a session right now. A client counts as long as one of its streams is open. */
export class ClientRegistry {
  readonly #attached = new Set<AttachedClient>();
  readonly #listeners = new Set<() => void>();
  /** What original clients were asked for and did not answer. */
  readonly #unanswered = new Set<ClientAbility>();

  attach(client: AttachedClient): Disposable {
    // A new object for each stream, so that one of two streams of a client can end alone.
    const entry = { ...client };
    this.#attached.add(entry);
    this.#notify();
    return {
      [Symbol.dispose]: () => {
        if (this.#attached.delete(entry)) this.#notify();
      },
    };
  }

  /** Streams that are open. */
  get count(): number {
    return this.#attached.size;
  }

  get isAttached(): boolean {
    return this.#attached.size > 0;
  }

  /** Whether somebody is worth asking for this. */
  can(ability: ClientAbility): boolean {
    return this.offers(ability) && !(this.areOriginal && this.#unanswered.has(ability));
  }

  /** Whether a client that is attached says that it can do this. */
  offers(ability: ClientAbility): boolean {
    for (const client of this.#attached) if (client.abilities.has(ability)) return true;
    return false;
  }

  /** Whether a client that is none of these says so. */
  offersBesides(ability: ClientAbility, clientIds: ReadonlySet<string>): boolean {
    for (const { clientId, abilities } of this.#attached) {
      if (abilities.has(ability) && !clientIds.has(clientId)) return true;
    }
    return false;
  }

  /** Clients are attached, and all of them speak the original protocol, which has no confirmations. */
  get areOriginal(): boolean {
    return this.isAttached && [...this.#attached].every(({ isOriginal }) => isOriginal === true);
  }

  /** An original client was asked for this and said nothing: none is asked again, until one answers something. */
  saidNothing(ability: ClientAbility): void {
    this.#unanswered.add(ability);
  }

  /** An original client answered, even if too late. */
  answered(): void {
    this.#unanswered.clear();
  }

  /** Id of the client that can do this and came last; undefined when there is none. */
  newest(ability: ClientAbility): string | undefined {
    return [...this.#attached].findLast(({ abilities }) => abilities.has(ability))?.clientId;
  }

  /** Calls back when clients come or go. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
      },
    };
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
