import { type KeyToHand, setModelKey } from "@gennai/client/session/model-key";
import { type Provider, providerNames } from "@gennai/protocol/model/session/backend";
import type { SecretStorage } from "vscode";
import * as z from "zod/mini";
import { type Authority, secretKey } from "./secret-key.ts";
import type { ServerConnection } from "./server-connection.ts";

const timeoutMs = 10_000;

/** Stands for all of this user's servers on this machine: ports change, and a key is also meant for the next server. */
const thisUsers = "http://this-machine.invalid";

type KeyedServer = Pick<ServerConnection, "url" | "isHere" | "agent">;
type Secrets = Pick<SecretStorage, "get" | "store" | "delete">;

/** Keys of one provider, by the origin that each is for; empty: the provider's usual address. */
const keptSchema = z.record(z.string(), z.string());
type KeptKeys = z.output<typeof keptSchema>;

/** Keys of model providers in the secret storage, each bound to this machine, its server, and its address. */
export class ModelKeyStore {
  readonly #secrets: Secrets;
  readonly #authority: Authority;
  readonly #usersUrl: (backend: Provider) => string;

  /** @param usersUrl address of a provider in the user's settings: older keys, which have no address, are for that one */
  constructor(secrets: Secrets, authority: Authority, usersUrl: (backend: Provider) => string) {
    this.#secrets = secrets;
    this.#authority = authority;
    this.#usersUrl = usersUrl;
  }

  /** Keeps a key and sends it to the server; an empty key is removed from both. Rejects with `ConnectError`. */
  async set(server: KeyedServer, given: KeyToHand & { readonly backend: Provider }): Promise<void> {
    const { backend, key, baseUrl } = given;
    const { [originOf(baseUrl)]: _before, ...others } = await this.#read(server, backend);
    await this.#write(server, backend, key === "" ? others : { ...others, [originOf(baseUrl)]: key });
    await setModelKey(server.agent, given, { signal: AbortSignal.timeout(timeoutMs) });
  }

  /** Sends a server all keys that are kept for it, because it forgets them when it ends. Resolves with their providers. */
  async handOver(server: KeyedServer): Promise<readonly Provider[]> {
    const handed: Provider[] = [];
    for (const backend of providerNames) {
      const keys = Object.entries(await this.#read(server, backend));
      for (const [baseUrl, key] of keys)
        await setModelKey(server.agent, { backend, baseUrl, key }, { signal: AbortSignal.timeout(timeoutMs) });
      if (keys.length > 0) handed.push(backend);
    }
    return handed;
  }

  async #read(server: KeyedServer, backend: Provider): Promise<KeptKeys> {
    const kept = keysOf(await this.#secrets.get(this.#name(server, backend)));
    const nameBefore = `${this.#prefix(server)}:model-key:${backend}`;
    const before = await this.#secrets.get(nameBefore);
    if (before === undefined) return kept;
    // Bound now, for good: the key must not follow the settings to a later address.
    const bound = { [originOf(this.#usersUrl(backend))]: before, ...kept };
    await this.#write(server, backend, bound);
    await this.#secrets.delete(nameBefore);
    return bound;
  }

  async #write(server: KeyedServer, backend: Provider, keys: KeptKeys): Promise<void> {
    const name = this.#name(server, backend);
    if (Object.keys(keys).length === 0) await this.#secrets.delete(name);
    else await this.#secrets.store(name, JSON.stringify(keys));
  }

  #name(server: KeyedServer, backend: Provider): string {
    return `${this.#prefix(server)}:model-keys:${backend}`;
  }

  #prefix({ url, isHere }: KeyedServer): string {
    return secretKey(this.#authority, isHere ? thisUsers : url);
  }
}

function originOf(url: string): string {
  return url === "" ? "" : new URL(url).origin;
}

function keysOf(text: string | undefined): KeptKeys {
  try {
    return keptSchema.parse(JSON.parse(text ?? "{}"));
  } catch {
    // No version of this extension wrote such a value.
    return {};
  }
}
