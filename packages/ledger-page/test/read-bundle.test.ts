import { verifyBundle } from "@gennai/governance/ledger/bundle/verify-bundle";
import { verifyLedgerBundle } from "@gennai/store/audit/ledger-bundle";
import { describe, expect, test } from "vitest";
import { readBundle } from "#read-bundle";
import { webVerifier } from "#web-verifier";
import { madeBundle, testKey } from "./made-bundle.ts";
import { tamperings } from "./tampered.ts";

const key = testKey();
const good = await madeBundle(key, 4);

const read = (bundle: string | Uint8Array<ArrayBuffer>, publicKey: string | undefined = key.pem) =>
  readBundle(new Blob([bundle]), publicKey);
/** As `gennai ledger verify --bundle` says it. */
const told = (bundle: string | Uint8Array, publicKey: string | undefined = key.pem) =>
  verifyLedgerBundle(() => [typeof bundle === "string" ? new TextEncoder().encode(bundle) : bundle], publicKey);

test("a bundle that is sound is told of as the command does, with its records", async () => {
  const { report, records } = await read(good);
  expect(report).toEqual(await told(good));
  expect(report).toMatchObject({ status: "ok", records: 4, keyIsGiven: true, keyId: key.keyId });
  expect(records.map(({ seq, calls }) => [seq, calls[0]?.input])).toEqual(
    [1, 2, 3, 4].map((seq) => [seq, "src/größe.ts"]),
  );
});

describe("what was done to a bundle is found, as the command finds it:", () => {
  test.each(tamperings)("%s", async (_name, change) => {
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
