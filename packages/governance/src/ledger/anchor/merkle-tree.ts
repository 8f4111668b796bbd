import { sha256Hex } from "@gennai/protocol/digest";

/**
 * The Merkle tree of RFC 6962 over records, keeping only the roots of complete subtrees: the ledger itself is a chain, and
 * stores none. A record's leaf is its hash, as 32 bytes.
 */
export class MerkleTree {
  /** Roots of whole subtrees, in hex, each smaller than the one before it. */
  readonly #subtrees: { readonly leaves: number; readonly hash: string }[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @param hash of the next record, in hex */
  add(hash: string): void {
    this.#size += 1;
    let subtree = { leaves: 1, hash: digest("00", hash) };
    for (let last = this.#subtrees.at(-1); last?.leaves === subtree.leaves; last = this.#subtrees.at(-1)) {
      this.#subtrees.pop();
      subtree = { leaves: 2 * subtree.leaves, hash: digest("01", last.hash, subtree.hash) };
    }
    this.#subtrees.push(subtree);
  }

  /** Root of everything added so far, in hex. */
  root(): string {
    const [last, ...others] = this.#subtrees.toReversed();
    if (last === undefined) return digest();
    return others.reduce((right, { hash }) => digest("01", hash, right), last.hash);
  }
}

/** @param hex of what is hashed, in parts */
function digest(...hex: readonly string[]): string {
  return sha256Hex(bytesOfHex(hex.join("")));
}

function bytesOfHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}
