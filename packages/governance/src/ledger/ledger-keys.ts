import type { LedgerHandOver } from "./ledger-record.ts";
import { decodeSignature, handOverMessage, type Verifier } from "./ledger-signature.ts";

/** The keys of one ledger as its records tell them: who is vouched for from outside, who was handed the ledger, who gave it away. */
export class LedgerKeys {
  readonly #vouched: Verifier;
  readonly #learned = new Map<string, Verifier>();
  /** Last seq that each key could sign. */
  readonly #retired = new Map<string, number>();

  constructor(vouched: Verifier) {
    this.#vouched = vouched;
  }

  /** Undefined for a key that is neither trusted nor authorised by a hand-over. */
  verifierOf(keyId: string): Verifier | undefined {
    return this.#learned.get(keyId) ?? (this.#vouched.knows(keyId) ? this.#vouched : undefined);
  }

  /** True when the key was handed over before this seq; without a seq, when it was at all. */
  isRetired(keyId: string, seq = Number.POSITIVE_INFINITY): boolean {
    const last = this.#retired.get(keyId);
    return last !== undefined && seq > last;
  }

  /**
   * Follows a hand-over in a record whose own signature is already verified. False if the new key is invalid, differs from its
   * id, was used before, or did not sign for this place.
   */
  async handOver(
    record: { readonly keyId: string; readonly seq: number; readonly previousHash: string },
    { key_id: to, public_key: publicKey, signature: text }: LedgerHandOver,
  ): Promise<boolean> {
    const { keyId: from, seq, previousHash } = record;
    const learned = this.#vouched.learn?.(publicKey);
    const signature = decodeSignature(text);
    if (learned === undefined || learned.keyId !== to || to === from || this.#retired.has(to)) return false;
    const message = handOverMessage({ from, to, publicKey, seq, previousHash });
    if (signature === undefined || !(await learned.verifier.verify(to, message, signature))) return false;
    this.#learned.set(to, learned.verifier);
    this.#retired.set(from, seq);
    return true;
  }
}
