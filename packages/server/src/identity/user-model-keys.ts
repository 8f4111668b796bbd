import { HandedKeys } from "@gennai/models/catalogue/handed-keys";
import type { KeyDestination } from "@gennai/models/catalogue/key-destination";
import type { ModelKeys } from "@gennai/models/catalogue/model-keys";
import type { Provider } from "@gennai/protocol/model/session/backend";
import type { Callers } from "@gennai/sessions/session/identity";

/** Users whose keys are kept at once; who was longest without a use has to hand them over again. */
const maxUsers = 10_000;

/**
 * Keys that users handed over, each for the calls of that user alone; else what the server has for all. In memory only.
 * Not masked in what others see: a user could have any word of theirs masked.
 */
export class UserModelKeys {
  readonly #callers: Callers;
  readonly #shared: Pick<ModelKeys, "find" | "has">;
  readonly #ofUser = new Map<string, HandedKeys>();

  constructor(options: { readonly callers: Callers; readonly shared: Pick<ModelKeys, "find" | "has"> }) {
    this.#callers = options.callers;
    this.#shared = options.shared;
  }

  /** An empty key forgets it. */
  hand(backend: Provider, baseUrl: string, key: string): void {
    const user = this.#callers.current()?.user;
    if (user === undefined) return;
    const keys = this.#ofUser.get(user) ?? new HandedKeys();
    keys.hand(backend, baseUrl, key);
    this.#ofUser.delete(user);
    if (!keys.isEmpty) this.#ofUser.set(user, keys);
    const [oldest] = this.#ofUser.keys();
    if (this.#ofUser.size > maxUsers && oldest !== undefined) this.#ofUser.delete(oldest);
  }

  async find(backend: Provider, place: KeyDestination): Promise<string | undefined> {
    return this.#own(backend, place) ?? this.#shared.find(backend, place);
  }

  /** Whether a key is available, without asking a client for it. */
  async has(backend: Provider, place: KeyDestination): Promise<boolean> {
    return this.#own(backend, place) !== undefined || this.#shared.has(backend, place);
  }

  #own(backend: Provider, place: KeyDestination): string | undefined {
    const user = this.#callers.current()?.user;
    return user === undefined ? undefined : this.#ofUser.get(user)?.find(backend, place);
  }
}
