import { publicKeyOf } from "../public-keys.ts";
import { readLedgerLine } from "../read-ledger-line.ts";
import { type Checkpoint, originOf, parseCheckpoint } from "./checkpoint.ts";
import { MerkleTree } from "./merkle-tree.ts";
import {
  type NoteKey,
  type NoteSignature,
  noteKeyId,
  type SignedNote,
  signedBytes,
  withoutTime,
} from "./signed-note.ts";

/** A kept note, and where it is kept. */
export interface KeptNote {
  readonly note: SignedNote;
  /** For people. */
  readonly where: string;
}

/** A head of this ledger that was signed and kept. */
export interface Anchor extends Checkpoint {
  readonly where: string;
  /**
   * When the ledger had this head, and who says so; the signer's own statement counts little, because the signer could rewrite
   * the ledger.
   */
  readonly said: readonly { readonly by: "signer" | { readonly witness: string }; readonly time: Date }[];
}

export interface AnchorReport {
  /** Heads of this ledger among the notes. */
  readonly found: number;
  /** Among the anchors that the present chain contains: the oldest according to anyone, and the one with the most records. */
  readonly oldest: Anchor | undefined;
  readonly newest: Anchor | undefined;
  /** The present chain is another one than was anchored; the first that shows it. */
  readonly contradicted: { readonly anchor: Anchor; readonly message: string } | undefined;
  /** Heads within what was lost and accepted, as the ledger says itself. */
  readonly lost: number;
}

export interface AnchorTools {
  /** Public keys (32 bytes) that vouch for the ledger; those it was handed over to are learned from it. */
  readonly keys: readonly Uint8Array[];
  /** Keys of possible witnesses. */
  readonly witnesses: readonly NoteKey[];
  readonly verify: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean | Promise<boolean>;
}

/**
 * Searches notes for heads of a ledger, and checks whether the present chain contains them. Notes of other ledgers, and those
 * without a known signature, are ignored. @param lines of a verified ledger
 */
export async function checkAnchors(
  lines: AsyncIterable<string> | Iterable<string>,
  kept: readonly KeptNote[],
  tools: AnchorTools,
): Promise<AnchorReport> {
  const none = { found: 0, oldest: undefined, newest: undefined, contradicted: undefined, lost: 0 };
  const wanted = new Set(kept.flatMap(({ note }) => parseCheckpoint(note.text)?.size ?? []));
  // No head is among them, of this ledger or any other: there is nothing that a second reading could find.
  if (wanted.size === 0) return none;
  const chain = await readChain(lines, wanted);
  if (chain === undefined) return none;
  const keys = [...tools.keys, ...chain.learned];
  const anchors: Anchor[] = [];
  for (const each of kept) {
    const anchor = await anchorOf(each, chain.origin, { ...tools, keys });
    if (anchor !== undefined) anchors.push(anchor);
  }
  const isLost = ({ size }: Anchor): boolean => chain.losses.some(({ from, to }) => size > to && size <= from);
  const held = anchors.filter(({ size, root }) => chain.roots.get(size) === root);
  const others = anchors.filter((anchor) => !held.includes(anchor));
  const wrong = others.find((anchor) => !isLost(anchor));
  const oldest = held.toSorted((one, other) => firstTime(one) - firstTime(other) || one.size - other.size)[0];
  const newest = held.toSorted((one, other) => other.size - one.size)[0];
  const contradicted = wrong && { anchor: wrong, message: contradiction(wrong, chain.size) };
  return { found: anchors.length, oldest, newest, contradicted, lost: others.filter(isLost).length };
}

/** The earliest confirmed time of this head; later than all times if there is none. */
export function firstTime({ said }: Anchor): number {
  return Math.min(...said.map(({ time }) => time.getTime()), Number.MAX_SAFE_INTEGER);
}

/** The present head of a ledger. Undefined: it has no record. @param lines of a verified ledger */
export async function presentHead(lines: AsyncIterable<string> | Iterable<string>): Promise<Checkpoint | undefined> {
  const chain = await readChain(lines, new Set());
  return chain && { origin: chain.origin, size: chain.size, root: chain.root };
}

interface Chain {
  readonly origin: string;
  readonly size: number;
  readonly root: string;
  /** At the sizes that were asked for. */
  readonly roots: ReadonlyMap<number, string>;
  readonly losses: readonly { readonly from: number; readonly to: number }[];
  readonly learned: readonly Uint8Array[];
}

async function readChain(
  lines: AsyncIterable<string> | Iterable<string>,
  wanted: ReadonlySet<number>,
): Promise<Chain | undefined> {
  let origin: string | undefined;
  let tree = new MerkleTree();
  const roots = new Map<number, string>();
  const losses: { readonly from: number; readonly to: number }[] = [];
  const learned: Uint8Array[] = [];
  for await (const line of lines) {
    const read = readLedgerLine(line);
    if (read.type !== "record") continue;
    const { genesis, hash, lost, handOver } = read.record;
    if (genesis !== undefined) {
      // A chain begins anew: what was before it is another ledger's.
      origin = originOf(hash);
      tree = new MerkleTree();
      for (const list of [losses, learned]) list.length = 0;
      roots.clear();
    }
    tree.add(hash);
    if (wanted.has(tree.size)) roots.set(tree.size, tree.root());
    if (lost !== undefined) losses.push(lost);
    const key = handOver && publicKeyOf(handOver.public_key);
    if (key !== undefined) learned.push(key.raw);
  }
  return origin === undefined ? undefined : { origin, size: tree.size, root: tree.root(), roots, losses, learned };
}

/** Undefined for a note that is no head of this ledger, or is not signed by one of its keys. */
async function anchorOf(
  { note, where }: KeptNote,
  origin: string,
  { keys, witnesses, verify }: AnchorTools,
): Promise<Anchor | undefined> {
  const checkpoint = parseCheckpoint(note.text);
  if (checkpoint?.origin !== origin) return undefined;
  const genuine = async (signature: NoteSignature, key: NoteKey): Promise<Date | undefined> => {
    if (signature.name !== key.name || signature.keyId !== noteKeyId(key)) return undefined;
    const parts = withoutTime(signature.signature, key.kind);
    if (parts === undefined) return undefined;
    const isGenuine = await verify(key.publicKey, signedBytes(note.text, key.kind, parts.time), parts.signature);
    return isGenuine ? new Date(Number(parts.time) * 1000) : undefined;
  };
  let isOwn = false;
  const said: Anchor["said"][number][] = [];
  for (const signature of note.signatures) {
    for (const publicKey of keys) {
      if ((await genuine(signature, { name: origin, kind: "note", publicKey })) !== undefined) isOwn = true;
      const time = await genuine(signature, { name: origin, kind: "cosignature", publicKey });
      if (time !== undefined) said.push({ by: "signer", time });
    }
    for (const witness of witnesses) {
      const time = await genuine(signature, witness);
      if (time !== undefined && witness.kind === "cosignature") said.push({ by: { witness: witness.name }, time });
    }
  }
  return isOwn ? { ...checkpoint, where, said } : undefined;
}

function contradiction({ size, where }: Anchor, now: number): string {
  if (size > now)
    return `The ledger has ${now} records, but had ${size} when it was anchored (${where}): its end was cut off.`;
  return `The first ${size} records are not those that were anchored (${where}): the ledger was rewritten.`;
}
