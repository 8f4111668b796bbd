import type { SecretStorage } from "vscode";
import { type Authority, secretKey } from "./secret-key.ts";

/** Tokens in the secret storage, each bound to this machine and to the server that it was given for. */
export class TokenStore {
  readonly #secrets: SecretStorage;
  readonly #authority: Authority;

  constructor(secrets: SecretStorage, authority: Authority) {
    this.#secrets = secrets;
    this.#authority = authority;
  }

  async get(baseUrl: string): Promise<string | undefined> {
    return this.#secrets.get(secretKey(this.#authority, baseUrl));
  }

  async set(baseUrl: string, token: string): Promise<void> {
    await this.#secrets.store(secretKey(this.#authority, baseUrl), token);
  }
}
