/** What a client can be asked for. */
export type ClientAbility =
  | "file-read"
  | "command"
  | "apply-changes"
  | "confirmation"
  | "model-call"
  | "diagnostics"
  | "find-symbols"
  /** Holds the session's files. */
  | "workspace";

export interface AttachedClient {
  /** The client's own id, stable over reconnects; empty from an original client. */
  readonly clientId: string;
  readonly abilities: ReadonlySet<ClientAbility>;
}

/** Which clients listen to a session right now. A client counts as long as one of its streams is open. */
export class ClientRegistry {
  readonly #attached = new Set<AttachedClient>();
  readonly #listeners = new Set<() => void>();

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

  can(ability: ClientAbility): boolean {
    for (const client of this.#attached) if (client.abilities.has(ability)) return true;
    return false;
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
