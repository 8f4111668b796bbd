import { runningSha256 } from "@gennai/protocol/digest";

/**
 * The Merkle tree of RFC 6962 over records, of which only the roots of whole subtrees are held: the ledger itself is a chain, and keeps none.
 * A record's leaf is its hash, as 32 bytes.
 */
export class MerkleTree {
  /** Roots of whole subtrees, each smaller than the one before it. */
  readonly #subtrees: { readonly leaves: number; readonly hash: Uint8Array }[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param hash of the next record, in hex */
  add(hash: string): void {
    this.#size += 1;
    let subtree = { leaves: 1, hash: digest([0], bytesOfHex(hash)) };
    for (let last = this.#subtrees.at(-1); last?.leaves === subtree.leaves; last = this.#subtrees.at(-1)) {
      this.#subtrees.pop();
      subtree = { leaves: 2 * subtree.leaves, hash: digest([1], last.hash, subtree.hash) };
    }
    this.#subtrees.push(subtree);
  }

  /** Of what was added so far, in hex. */
  root(): string {
    const [last, ...others] = this.#subtrees.toReversed();
    if (last === undefined) return hexOf(digest([]));
    return hexOf(others.reduce((right, { hash }) => digest([1], hash, right), last.hash));
  }
}

function digest(prefix: readonly number[], ...parts: readonly Uint8Array[]): Uint8Array {
  const hash = runningSha256();
  hash.update(Uint8Array.from(prefix));
  for (const part of parts) hash.update(part);
  return bytesOfHex(hash.hex());
}

function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
