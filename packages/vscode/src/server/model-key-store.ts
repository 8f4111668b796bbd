import type { AgentClient } from "@gennai/client/connection/connection";
import { setModelKey } from "@gennai/client/session/model-key";
import { type Provider, providerNames } from "@gennai/protocol/model/backend";
import type { SecretStorage } from "vscode";
import { type Authority, secretKey } from "./secret-key.ts";

const patience = 10_000;

/** Keys of model providerNames in the secret storage, each bound to this machine and the server it was given for. */
export class ModelKeyStore {
  readonly #secrets: Pick<SecretStorage, "get" | "store" | "delete">;
  readonly #authority: Authority;

  constructor(secrets: Pick<SecretStorage, "get" | "store" | "delete">, authority: Authority) {
    this.#secrets = secrets;
    this.#authority = authority;
  }

  /** Keeps a key and hands it to the server; an empty one is forgotten by both. Rejects with `ConnectError`. */
  async set(baseUrl: string, backend: Provider, key: string, agent: AgentClient): Promise<void> {
    const name = this.#name(baseUrl, backend);
    if (key === "") await this.#secrets.delete(name);
    else await this.#secrets.store(name, key);
    await setModelKey(agent, { backend, key, signal: AbortSignal.timeout(patience) });
  }

  /** Hands a server what is kept for it: it forgets keys when it ends. Gives the backends it got one for. */
  async handOver(baseUrl: string, agent: AgentClient): Promise<readonly Provider[]> {
    const handed: Provider[] = [];
    for (const backend of providerNames) {
      const key = await this.#secrets.get(this.#name(baseUrl, backend));
      if (key === undefined) continue;
      await setModelKey(agent, { backend, key, signal: AbortSignal.timeout(patience) });
      handed.push(backend);
    }
    return handed;
  }

  #name(baseUrl: string, backend: Provider): string {
    return `${secretKey(this.#authority, baseUrl)}:model-key:${backend}`;
  }
}
