import type { Provider } from "@gennai/protocol/model/session/backend";
import { type KeyDestination, originOf } from "./key-destination.ts";

/** Of one provider; the oldest goes first. */
const mostPlaces = 100;

/** Keys that clients handed over, each for one provider at one address. In memory only. */
export class HandedKeys {
  readonly #keys = new Map<Provider, Map<string, string>>();

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  /**
   * Keeps a key; an empty one forgets what was handed over for this address.
   * @param baseUrl empty: the key is for the known places of its provider; an empty key forgets those of all addresses
   */
  hand(backend: Provider, baseUrl: string, key: string): void {
    const keys = this.#keys.get(backend) ?? new Map<string, string>();
    const origin = originOf(baseUrl) ?? "";
    keys.delete(origin);
    if (key !== "") keys.set(origin, key);
    else if (origin === "") keys.clear();
    const [oldest] = keys.keys();
    if (keys.size > mostPlaces && oldest !== undefined) keys.delete(oldest);
    if (keys.size > 0) this.#keys.set(backend, keys);
    else this.#keys.delete(backend);
  }

  find(backend: Provider, { origin, isKnown }: KeyDestination): string | undefined {
    const keys = this.#keys.get(backend);
    return keys?.get(origin) ?? (isKnown ? keys?.get("") : undefined);
  }
}
