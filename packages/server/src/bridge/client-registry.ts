/** What a client can be asked for. */
export type ClientAbility =
  | "file-read"
  | "command"
  | "apply-changes"
  | "confirmation"
  | "model-call"
  | "diagnostics"
  | "list-workspace"
  | "find-symbols";

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

  get isAttached(): boolean {
    return this.#attached.size > 0;
  }

  can(ability: ClientAbility): boolean {
    for (const client of this.#attached) if (client.abilities.has(ability)) return true;
    return false;
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
