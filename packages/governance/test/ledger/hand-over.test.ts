import { describe, expect, test } from "vitest";
import type { RecordPosition, SealedRecord } from "#ledger/ledger-record";
import { sealRecord, workspaceIdOf } from "#ledger/ledger-record";
import {
  encodeSignature,
  type NextKey,
  type SignedHead,
  type Signer,
  signHead,
  type Verifier,
} from "#ledger/ledger-signature";
import { verifyLedger } from "#ledger/verify-ledger";
import { chain, entry, keyPair, salt, workspaceRoot } from "./ledger-fixture.ts";

const [one, two, three, stranger] = ["key-1", "key-2", "key-3", "key-x"].map((id) => keyPair(id));
if (one === undefined || two === undefined || three === undefined || stranger === undefined) throw new Error("no keys");
const byPublicKey = new Map([one, two, three, stranger].map((pair) => [`public ${pair.signer.keyId}`, pair]));

/** Vouches for the first key, and knows what the public keys are. */
const verifier: Verifier = {
  ...one.verifier,
  learn: (publicKey) => {
    const pair = byPublicKey.get(publicKey);
    return pair && { keyId: pair.signer.keyId, verifier: pair.verifier };
  },
};

function nextKey({ keyId, sign }: Signer, change: Partial<NextKey> = {}): NextKey {
  return { keyId, sign, publicKey: `public ${keyId}`, ...change };
}

/** Records after those given: each signed by its key, some hand over. */
function grown(...more: readonly { readonly by: Signer; readonly next?: NextKey }[]): readonly SealedRecord[] {
  const records = [...chain(2, (one as NonNullable<typeof one>).signer)];
  for (const { by, next } of more) {
    const last = records.at(-1);
    const place: RecordPosition = { seq: records.length + 1, previousHash: last?.hash ?? "" };
    const kind = next === undefined ? "outcome" : "key";
    records.push(sealRecord(entry({ kind }), place, by, { salt, ...(next === undefined ? {} : { next }) }));
  }
  return records;
}

async function statusOf(records: readonly { readonly line: string }[], head?: SignedHead): Promise<string> {
  const bytes = new TextEncoder().encode(records.map(({ line }) => `${line}\n`).join(""));
  const { status, problem } = await verifyLedger([bytes], {
    verifier,
    workspace: workspaceIdOf(workspaceRoot),
    ...(head === undefined ? {} : { head }),
  });
  return problem === undefined ? status : `${status} at ${problem.seq}`;
}

describe("a ledger that is handed over", () => {
  const toTwo = { by: one.signer, next: nextKey(two.signer) };
  const toThree = { by: two.signer, next: nextKey(three.signer) };
  const wrongProof = nextKey(two.signer, { sign: stranger.signer.sign });
  test.each([
    ["to one key, then to another", [toTwo, { by: two.signer }, toThree, { by: three.signer }], "ok"],
    ["goes on under the old key", [toTwo, { by: one.signer }], "unknown_key at 4"],
    ["goes on under a key it was not handed to", [toTwo, { by: stranger.signer }], "unknown_key at 4"],
    ["by a stranger", [{ by: stranger.signer, next: nextKey(two.signer) }], "unknown_key at 3"],
    ["to a key that did not sign for it", [{ by: one.signer, next: wrongProof }], "bad_signature at 3"],
    [
      "to another key than it names",
      [{ by: one.signer, next: nextKey(two.signer, { publicKey: "public key-x" }) }],
      "bad_signature at 3",
    ],
    ["to what is no key", [{ by: one.signer, next: nextKey(two.signer, { publicKey: "x" }) }], "bad_signature at 3"],
    ["to itself", [{ by: one.signer, next: nextKey(one.signer) }], "bad_signature at 3"],
    ["back to a key that gave it away", [toTwo, { by: two.signer, next: nextKey(one.signer) }], "bad_signature at 4"],
    ["twice by the same key", [toTwo, { by: one.signer, next: nextKey(three.signer) }], "unknown_key at 4"],
  ] as const)("%s", async (_name, more, wanted) => {
    expect(await statusOf(grown(...more))).toBe(wanted);
  });

  test("a hand-over that was taken from another place is refused", async () => {
    const signed: string[] = [];
    const recording = nextKey(two.signer, {
      sign: (message) => {
        const signature = two.signer.sign(message);
        signed.push(encodeSignature(signature));
        return signature;
      },
    });
    grown({ by: one.signer, next: recording });
    const replayed = nextKey(two.signer, {
      sign: () => Uint8Array.from(atob(signed[0] ?? ""), (character) => character.charCodeAt(0)),
    });
    expect(await statusOf(grown({ by: one.signer }, { by: one.signer, next: replayed }))).toBe("bad_signature at 4");
  });

  test("a signed head may be the old key's up to the hand-over, and no further", async () => {
    const records = grown(toTwo, { by: two.signer });
    const head = (seq: number, signer: Signer) =>
      signHead({ workspace: workspaceIdOf(workspaceRoot), seq, hash: records[seq - 1]?.hash ?? "" }, signer);
    expect(await statusOf(records, head(2, one.signer))).toBe("ok");
    expect(await statusOf(records, head(4, two.signer))).toBe("ok");
    expect(await statusOf(records, head(4, one.signer))).toMatch(/^unknown_key/);
    expect(await statusOf(records.slice(0, 3), head(4, two.signer))).toMatch(/^truncated_tail/);
  });

  test("without a way to learn keys, none is followed", async () => {
    const bytes = new TextEncoder().encode(
      grown(toTwo)
        .map(({ line }) => `${line}\n`)
        .join(""),
    );
    expect((await verifyLedger([bytes], { verifier: one.verifier })).status).toBe("bad_signature");
  });
});
