import { createHash, generateKeyPairSync, type KeyObject, sign, verify } from "node:crypto";
import { expect, test } from "vitest";
import { checkAnchors, type KeptNote, presentHead } from "#ledger/anchor/check-anchors";
import { type Checkpoint, checkpointText, parseCheckpoint } from "#ledger/anchor/checkpoint";
import { MerkleTree } from "#ledger/anchor/merkle-tree";
import { type NoteKey, type NoteKeyKind, noteKeyId, signedBytes, withTime } from "#ledger/anchor/signed-note";
import { spkiOf } from "#ledger/public-keys";
import { chain, keyPair } from "../ledger-fixture.ts";
import { plainEntry } from "../plain-entry.ts";

const { signer } = keyPair("one");
const ledger = chain(9, signer).map(({ line }) => line);
const own = generateKeyPairSync("ed25519");
const witness = generateKeyPairSync("ed25519");
const raw = (key: KeyObject) => new Uint8Array(key.export({ type: "spki", format: "der" }).subarray(-32));
const witnessKey: NoteKey = { name: "witness.example", kind: "cosignature", publicKey: raw(witness.publicKey) };
const tools = {
  keys: [raw(own.publicKey)],
  witnesses: [witnessKey],
  verify: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) =>
    verify(null, message, { key: Buffer.from(spkiOf(publicKey)), format: "der", type: "spki" }, signature),
};

async function headOf(lines: readonly string[]): Promise<Checkpoint> {
  const head = await presentHead(lines);
  if (head === undefined) throw new Error("There is no head.");
  return head;
}

interface By {
  readonly key: typeof own;
  readonly name?: string;
  readonly kind: NoteKeyKind;
  readonly time?: number;
}

function kept(head: Checkpoint, by: readonly By[], where = "here"): KeptNote {
  const text = checkpointText(head);
  const signatures = by.map(({ key, name = head.origin, kind, time = 0 }) => {
    const signature = sign(null, signedBytes(text, kind, BigInt(time)), key.privateKey);
    return {
      name,
      keyId: noteKeyId({ name, kind, publicKey: raw(key.publicKey) }),
      signature: withTime(signature, kind, BigInt(time)),
    };
  });
  return { note: { text, signatures }, where };
}

const signed: By = { key: own, kind: "note" };
const at = (time: number): readonly By[] => [signed, { key: own, kind: "cosignature", time }];

test("the oldest anchor that the chain contains says since when, and the newest for how many records", async () => {
  const notes = [
    kept(await headOf(ledger.slice(0, 5)), at(2_000), "second"),
    kept(await headOf(ledger.slice(0, 3)), at(1_000), "first"),
    kept(await headOf(ledger), [signed], "no time"),
  ];
  const report = await checkAnchors(ledger, notes, tools);
  expect(report).toMatchObject({
    found: 3,
    oldest: { size: 3, where: "first", said: [{ by: "signer", time: new Date(1_000_000) }] },
    newest: { size: 9, where: "no time", said: [] },
    contradicted: undefined,
  });
});

test("a witness that is known says so by its name, one that is not says nothing", async () => {
  const head = await headOf(ledger);
  const by = { key: witness, name: witnessKey.name, kind: "cosignature", time: 7 } as const;
  const { oldest } = await checkAnchors(ledger, [kept(head, [...at(9), by])], tools);
  expect(oldest?.said).toEqual([
    { by: "signer", time: new Date(9_000) },
    { by: { witness: "witness.example" }, time: new Date(7_000) },
  ]);
  const unknown = await checkAnchors(ledger, [kept(head, [signed, by])], { ...tools, witnesses: [] });
  expect(unknown.oldest?.said).toEqual([]);
});

test.each([
  { name: "rewritten", now: () => chain(9, keyPair("two").signer, { root: "/home/ada/project" }), says: undefined },
  { name: "cut", now: () => chain(4, signer), says: "its end was cut off" },
])("a chain that is not the one that was anchored contradicts: $name", async ({ now, says }) => {
  const lines = now().map(({ line }) => line);
  const present = await headOf(lines);
  const before = { ...(await headOf(ledger.slice(0, 6))), origin: present.origin };
  const { contradicted } = await checkAnchors(lines, [kept(before, at(1))], tools);
  expect(contradicted?.message).toContain(says ?? "the ledger was rewritten");
});

test("what others signed, what was altered, and heads of other ledgers say nothing", async () => {
  const head = await headOf(ledger);
  const stranger = generateKeyPairSync("ed25519");
  const wrong = { ...head, root: "0".repeat(64) };
  const altered = kept(head, at(1));
  const notes: readonly KeptNote[] = [
    kept(wrong, [{ key: stranger, kind: "note" }]),
    kept(wrong, [{ key: witness, name: witnessKey.name, kind: "cosignature", time: 1 }]),
    kept(wrong, [{ key: own, kind: "cosignature", time: 1 }]),
    { ...altered, note: { ...altered.note, text: checkpointText(wrong) } },
    kept({ ...wrong, origin: "gennai.invalid/ledger/other" }, at(1)),
    { ...altered, note: { ...altered.note, text: "words\n" } },
  ];
  expect(await checkAnchors(ledger, notes, tools)).toEqual({
    found: 0,
    oldest: undefined,
    newest: undefined,
    contradicted: undefined,
    lost: 0,
  });
  expect(await checkAnchors([], [altered], tools)).toMatchObject({ found: 0 });
});

test("heads within what was lost and accepted contradict nothing, and are counted", async () => {
  const entries = (seq: number) =>
    plainEntry({
      kind: seq === 5 ? ("rollback" as const) : ("outcome" as const),
      time: seq,
      sessionId: "",
      details: seq === 5 ? { from: 7, to: 4 } : {},
    });
  const before = chain(9, signer, { entries: (seq) => ({ ...entries(1), time: seq }) }).map(({ line }) => line);
  const after = [...chain(4, signer, { entries: (seq) => ({ ...entries(1), time: seq }) })].map(({ line }) => line);
  expect(after).toEqual(before.slice(0, 4));
  const now = chain(6, signer, { entries: (seq) => ({ ...entries(seq === 5 ? 5 : 1), time: seq }) }).map(
    ({ line }) => line,
  );
  const notes = await Promise.all([3, 6, 7].map(async (size) => kept(await headOf(before.slice(0, size)), at(size))));
  expect(await checkAnchors(now, notes, tools)).toMatchObject({
    found: 3,
    lost: 2,
    oldest: { size: 3 },
    contradicted: undefined,
  });
  const beyond = kept(await headOf(before.slice(0, 8)), at(1));
  expect((await checkAnchors(now, [beyond], tools)).contradicted?.anchor.size).toBe(8);
});

test("the tree is that of RFC 6962", () => {
  // Of Certificate Transparency's reference tests: the same shape for leaves of our form, by the definition's own recursion.
  const leaves = Array.from({ length: 21 }, (_, number) => number.toString(16).padStart(64, "0"));
  const tree = new MerkleTree();
  expect(tree.root()).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  for (const [index, leaf] of leaves.entries()) {
    tree.add(leaf);
    expect(tree.root()).toBe(definition(leaves.slice(0, index + 1)).toString("hex"));
  }
});

test.each([
  ...["", "o\n1\n", "o\n01\nAAAA\n", "o\n1\nAAAA\n", "\n1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"],
  "o\n-1\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
  "o\n99999999999999999\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
])("%j is not a checkpoint", (text) => expect(parseCheckpoint(text)).toBe(undefined));

test("a checkpoint of c2sp.org/tlog-checkpoint is read", () => {
  const text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
  const found = parseCheckpoint(text);
  expect(found).toMatchObject({ origin: "example.com/behind-the-sofa", size: 20852163 });
  expect(found && checkpointText(found)).toBe(text);
});

/** RFC 6962, 2.1, as it is written there. */
function definition(leaves: readonly string[]): Buffer {
  const [only] = leaves;
  if (leaves.length === 1) return sha256(Buffer.of(0), Buffer.from(only ?? "", "hex"));
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return sha256(Buffer.of(1), definition(leaves.slice(0, split)), definition(leaves.slice(split)));
}

function sha256(...parts: readonly Buffer[]): Buffer {
  return createHash("sha256").update(Buffer.concat(parts)).digest();
}
