import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyBundle } from "@gennai/governance/ledger/verify-bundle";
import { verifyAnchoredBundle } from "@gennai/store/audit/ledger-anchors";
import { verifyLedgerBundle } from "@gennai/store/audit/ledger-bundle";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chosenAnchors } from "#chosen-anchors";
import { readBundle } from "#read-bundle";
import { webVerifier } from "#web-verifier";
import { keptHead, testWitness } from "./kept-heads.ts";
import { madeBundle, testKey } from "./made-bundle.ts";
import { tamperings } from "./tampered.ts";

const key = testKey();
const good = await madeBundle(key, 4);

const read = (bundle: string | Uint8Array<ArrayBuffer>, publicKey: string | undefined = key.pem) =>
  readBundle(new Blob([bundle]), publicKey);
/** As `gennai ledger verify --bundle` says it. */
const told = (bundle: string | Uint8Array, publicKey: string | undefined = key.pem) =>
  verifyLedgerBundle(() => [typeof bundle === "string" ? new TextEncoder().encode(bundle) : bundle], publicKey);

test("a bundle that is sound is told about as the command does, with its records", async () => {
  const { report, records } = await read(good);
  expect(report).toEqual(await told(good));
  expect(report).toMatchObject({ status: "ok", records: 4, keyIsGiven: true, keyId: key.keyId });
  expect(records.map(({ seq, calls }) => [seq, calls[0]?.input])).toEqual(
    [1, 2, 3, 4].map((seq) => [seq, "src/größe.ts"]),
  );
});

test.each(tamperings)("what was done to a bundle is found, as the command finds it: %s", async (_name, change) => {
  const bundle = change(good);
  expect(bundle).not.toBe(good);
  for (const publicKey of [key.pem, undefined]) {
    const { report, records } = await readBundle(new Blob([bundle]), publicKey);
    expect(report.status).not.toBe("ok");
    expect(records).toEqual([]);
    const { message, ...rest } = report;
    const { message: ofCommand, ...restOfCommand } = await verifyLedgerBundle(
      () => [new TextEncoder().encode(bundle)],
      publicKey,
    );
    expect(rest).toEqual(restOfCommand);
    // What is wrong with a key, each cryptography says in its own words.
    if (report.status !== "no_key") expect(message).toBe(ofCommand);
  }
});

let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "gennai-read-bundle-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** What the page and the command say of a bundle beside heads that were kept in a file. */
async function both(bundle: string, heads: string, witnessKeys: readonly string[] = []) {
  const file = join(directory, "heads.txt");
  await writeFile(file, heads);
  const anchors = await chosenAnchors([new File([heads], file)], witnessKeys.join("\n"));
  const { report, records } = await readBundle(new Blob([bundle]), key.pem, { anchors });
  const ofCommand = await verifyAnchoredBundle(() => [new TextEncoder().encode(bundle)], key.pem, {
    files: [file],
    repository: undefined,
    witnesses: witnessKeys,
  });
  return { report, records, ofCommand };
}

const witness = testWitness("witness.example", Date.UTC(2026, 0, 4) / 1000);
const head = await keptHead(key, good, [witness]);
/** Same first record, same key, and another history from the third record on. */
const rewritten = await madeBundle(key, 5, (seq) => (seq > 2 ? { details: { other: true } } : {}));

/** A bundle, a file of heads, and what is said of them. */
const besideHeads: readonly (readonly [name: string, bundle: string, heads: string, wanted: object])[] = [
  [
    "it has the head",
    good,
    head,
    { status: "ok", anchors: { found: 1, newest: { size: 4 }, contradicted: undefined } },
  ],
  ["it has grown", await madeBundle(key, 6), head, { status: "ok", anchors: { found: 1, oldest: { size: 4 } } }],
  ["its end was cut off", await madeBundle(key, 3), head, { status: "contradicts_anchor" }],
  ["it was rewritten with its own key", rewritten, head, { status: "contradicts_anchor" }],
  [
    "it is another ledger",
    await madeBundle(key, 4, () => ({ details: { other: 1 } })),
    head,
    { status: "ok", anchors: { found: 0 } },
  ],
  ["another key signed the head", good, await keptHead(testKey(), good), { status: "ok", anchors: { found: 0 } }],
  ["the head says another number", good, head.replace("\n4\n", "\n5\n"), { status: "ok", anchors: { found: 0 } }],
  ["no head is in the file", good, "— x AAAA\n\nwords\n", { status: "ok", anchors: { found: 0 } }],
  [
    "several heads, one below the other",
    good,
    `${await keptHead(key, await madeBundle(key, 2))}\n${head}`,
    { status: "ok", anchors: { found: 2, oldest: { size: 2 }, newest: { size: 4 } } },
  ],
];

describe("a bundle beside a head that somebody kept is judged as the command judges it:", () => {
  test.each(besideHeads)("%s", async (_name, bundle, heads, wanted) => {
    const { report, records, ofCommand } = await both(bundle, heads, [witness.verifierKey]);
    expect(report).toMatchObject(wanted);
    expect(report).toEqual(ofCommand);
    expect(records).toHaveLength(report.status === "ok" ? report.records : 0);
  });

  test.each(tamperings)("tampered with: %s", async (_name, change) => {
    const { report, ofCommand } = await both(change(good), head);
    expect(report.status).not.toBe("ok");
    const { message: _words, ...rest } = report;
    const { message: _wordsOfCommand, ...restOfCommand } = ofCommand;
    expect(rest).toEqual(restOfCommand);
  });

  test("no byte of the head can be changed unseen", async () => {
    const told = ({ report: { anchors } }: Awaited<ReturnType<typeof both>>) => [anchors?.found, anchors?.oldest?.said];
    const unchanged = told(await both(good, head, [witness.verifierKey]));
    for (let at = 0; at < head.length; at += 3) {
      const changed = `${head.slice(0, at)}${head[at] === "A" ? "B" : "A"}${head.slice(at + 1)}`;
      const said = await both(good, changed, [witness.verifierKey]);
      expect(said.report, `${at}`).toEqual(said.ofCommand);
      expect(told(said), `${at}`).not.toEqual(unchanged);
    }
  });
});

test("a witness's word on the time counts by its key alone, and what is no key is refused", async () => {
  const said = async (keys: readonly string[]) => (await both(good, head, keys)).report.anchors?.oldest?.said;
  expect(await said([])).toMatchObject([{ by: "signer" }]);
  expect(await said([witness.verifierKey])).toMatchObject([{ by: "signer" }, { by: { witness: "witness.example" } }]);
  expect(await said([testWitness("witness.example", 0).verifierKey])).toMatchObject([{ by: "signer" }]);
  await expect(both(good, head, ["nobody"])).rejects.toThrow("is not a verifier key");
});

test("no byte can be changed unseen", async () => {
  const bytes = new TextEncoder().encode(good);
  const unseen: number[] = [];
  // Line breaks are layout, which is not signed: a bundle without them is read whole.
  for (let at = 0; at < bytes.length; at += 3) {
    if (bytes[at] === 10) continue;
    const changed = bytes.slice();
    changed[at] = (bytes[at] ?? 0) ^ 1;
    if ((await read(changed)).report.status === "ok") unseen.push(at);
  }
  expect(unseen).toEqual([]);
});

test("a bundle of another key is refused, and one that is checked with its own key says so", async () => {
  expect((await read(good, testKey().pem)).report).toMatchObject({ status: "unknown_key", keyIsGiven: true });
  const own = await readBundle(new Blob([good]), undefined);
  expect(own.report).toMatchObject({ status: "ok", keyIsGiven: false });
  expect((await read(good, `${testKey().pem}${key.pem}`)).report.status).toBe("ok");
});

test.each(["", "no key", "-----BEGIN PUBLIC KEY-----\n!!!!\n-----END PUBLIC KEY-----", otherAlgorithm()])(
  "what is no Ed25519 key is refused: %j",
  async (pem) => {
    expect(() => webVerifier(pem)).toThrow("No Ed25519 public key was found");
    expect((await read(good, pem)).report.status).toBe("no_key");
  },
);

test("what is not laid out as it was exported is read whole, up to a bound", async () => {
  const bytes = new TextEncoder().encode(JSON.stringify(JSON.parse(good), undefined, 1));
  const tools = { verifierOf: webVerifier };
  expect((await verifyBundle(() => [bytes], key.pem, tools)).status).toBe("ok");
  expect(await verifyBundle(() => [bytes], key.pem, { ...tools, mostWhole: bytes.length - 1 })).toMatchObject({
    status: "malformed_line",
    message: expect.stringContaining("too large to be read whole"),
  });
});

test("of a long ledger the newest records are shown, with their numbers", async () => {
  const [mostShown, count] = [20, 47];
  const { report, records } = await readBundle(new Blob([await madeBundle(key, count)]), key.pem, { mostShown });
  expect(report).toMatchObject({ status: "ok", records: count });
  expect([records.length, records[0]?.seq, records.at(-1)?.seq]).toEqual([mostShown, count - mostShown + 1, count]);
});

/** SPKI of another algorithm: P-256. */
function otherAlgorithm(): string {
  return "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEAA==\n-----END PUBLIC KEY-----\n";
}
