import type { ClientRequest } from "@gennai/agent/events/client-request";

/** A request type that a client can answer; `workspace`: it holds the session's files. */
export type ClientAbility = ClientRequest["kind"];

export interface AttachedClient {
  /** The client's own id, stable over reconnects; empty from an original client. */
  readonly clientId: string;
  readonly abilities: ReadonlySet<ClientAbility>;
  /** The client speaks the original protocol: it announced no abilities, so they must be found out by asking. */
  readonly isOriginal?: boolean;
}

/** The clients attached to a session now. A client counts while at least one of its streams is open. */
export class ClientRegistry {
  readonly #attached = new Set<AttachedClient>();
  readonly #listeners = new Set<() => void>();
  /** Request types that original clients did not answer. */
  readonly #unanswered = new Set<ClientAbility>();

  attach(client: AttachedClient): Disposable {
    // A new object for each stream, so that one of a client's streams can end alone.
    const entry = { ...client };
    this.#attached.add(entry);
    this.#notify();
    return {
      [Symbol.dispose]: () => {
        if (this.#attached.delete(entry)) this.#notify();
      },
    };
  }

  /** Number of open streams. */
  get count(): number {
    return this.#attached.size;
  }

  get isAttached(): boolean {
    return this.#attached.size > 0;
  }

  /** Whether any attached client may be able to answer this. */
  can(ability: ClientAbility): boolean {
    return this.offers(ability) && !(this.areOriginal && this.#unanswered.has(ability));
  }

  /** Whether an attached client announced this ability. */
  offers(ability: ClientAbility): boolean {
    for (const client of this.#attached) if (client.abilities.has(ability)) return true;
    return false;
  }

  /** Whether an attached client other than these announced it. */
  offersBesides(ability: ClientAbility, clientIds: ReadonlySet<string>): boolean {
    for (const { clientId, abilities } of this.#attached) {
      if (abilities.has(ability) && !clientIds.has(clientId)) return true;
    }
    return false;
  }

  /** Clients are attached, and all speak the original protocol, which has no confirmations. */
  get areOriginal(): boolean {
    return this.isAttached && [...this.#attached].every(({ isOriginal }) => isOriginal === true);
  }

  /** An original client did not answer this type: it is not asked again until one answers anything. */
  saidNothing(ability: ClientAbility): void {
    this.#unanswered.add(ability);
  }

  /** An original client answered, even if too late. */
  answered(): void {
    this.#unanswered.clear();
  }

  /** Id of the newest client that can answer this; undefined if there is none. */
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
