import { createRedactor } from "@gennai/machine/redaction/redactor";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import { exportSession } from "./export-session.ts";
import { type ImportedSession, importSession } from "./import-session.ts";
import { openStore, type Store, type StoreOptions } from "./sqlite/store.ts";

/** The sessions of a state directory, taken out of it and into it as bundles: no server need run. */
export class SessionBundles implements AsyncDisposable {
  readonly #store: Store;

  private constructor(store: Store) {
    this.#store = store;
  }

  /** Rejects with `StoreError`, `UnsafeStateDirectory`. */
  static async open(stateDir: string, options: StoreOptions): Promise<SessionBundles> {
    return new SessionBundles(await openStore(stateDir, options));
  }

  /** Pieces of text to write one after the other. Rejects with `StoreError` for an unknown session, before the first. */
  async *export(sessionId: string): AsyncGenerator<string, void, undefined> {
    const { log, blobs } = this.#store;
    yield* exportSession({ log, blobs, redactor: await createRedactor() }, sessionId);
  }

  /** Makes a new session of a bundle. Rejects with `StoreError` `bad_bundle`; nothing was made then. */
  import(
    bytes: Uint8Array,
    options: { readonly workspaceRoot: string; readonly settings: SessionSettings },
  ): Promise<ImportedSession> {
    const { log, blobs } = this.#store;
    return importSession({ log, blobs }, bytes, { ...options, now: Date.now });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#store[Symbol.asyncDispose]();
  }
}
