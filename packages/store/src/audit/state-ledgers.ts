import { type AcceptedRollback, acceptRollback } from "../ledger/accept-rollback.ts";
import { ledgerPublicKeyFile } from "../ledger/ledger-key.ts";
import { type KeyRotation, rotateLedgerKey } from "./ledger-key-rotation.ts";

/** All ledgers of one state directory, for a person at a terminal: they share a signing key and a store. */
export class StateLedgers {
  readonly #options: { readonly stateDir: string; readonly toolVersion: string };

  constructor(options: { readonly stateDir: string; readonly toolVersion: string }) {
    this.#options = options;
  }

  /** Absolute path of the file with the public keys. */
  get publicKeyFile(): string {
    return ledgerPublicKeyFile(this.#options.stateDir);
  }

  /** A new signing key, which every ledger is handed over to. Rejects with `StoreError`. */
  rotateKey(): Promise<KeyRotation> {
    return rotateLedgerKey({ ...this.#options, now: Date.now });
  }

  /** What is missing is lost, and the ledgers say so from now on. Rejects with `StoreError`. */
  acceptRollback(): Promise<AcceptedRollback> {
    return acceptRollback({ ...this.#options, now: Date.now });
  }
}
