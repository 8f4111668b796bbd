import { digestOf } from "@gennai/protocol/digest";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sealRecord, workspaceIdOf } from "#ledger/ledger-record";
import { type SignedHead, signHead } from "#ledger/ledger-signature";
import { contentDigest, partsOf } from "#ledger/record-content";
import { type LedgerExpectations, type LedgerReport, verifyLedger } from "#ledger/verify-ledger";
import { chain, entry, keyPair, salt, workspaceRoot } from "./ledger-fixture.ts";

const { signer, verifier } = keyPair("key-1");
const stranger = keyPair("key-2");
const impostor = keyPair("key-1");
const workspace = workspaceIdOf(workspaceRoot);
const records = chain(5, signer);
const lines = records.map((record) => record.line);
const file = text(lines);
const head = headAt(5);

function text(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join("");
}

function headAt(seq: number): SignedHead {
  return signHead({ workspace, seq, hash: records[seq - 1]?.hash ?? "" }, signer);
}

async function verified(
  content: string | Uint8Array,
  expected: Partial<LedgerExpectations> = {},
): Promise<LedgerReport> {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return verifyLedger([bytes], { verifier, workspace, ...expected });
}

/** Byte offset of the line with this number, 1-based. */
function offsetOf(all: readonly string[], number: number): number {
  return Buffer.byteLength(text(all.slice(0, number - 1)));
}

/** A record changed and given the hash that fits, by somebody without the key. */
function rehashed(line: string, change: (record: { metadata: Record<string, unknown> }) => void): string {
  const record = JSON.parse(line);
  change(record);
  const { content } = partsOf(record, record.metadata);
  const metadata = { ...record.metadata, content_digest: contentDigest(content, salt) };
  const hash = digestOf(partsOf(record, metadata).fixed);
  return JSON.stringify({ ...record, metadata: { ...metadata, hash } }, sortedKeys);
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const [one = "", two = "", three = "", four = "", five = ""] = lines;

describe("verifyLedger", () => {
  it("accepts a whole ledger, in whatever pieces it comes", async () => {
    const bytes = new TextEncoder().encode(file);
    const last = { seq: 5, hash: records[4]?.hash, endOffset: bytes.length };
    const wanted = {
      status: "ok",
      message: "5 records, chained and signed.",
      records: 5,
      purged: 0,
      last,
      unsigned: 0,
      rollbacks: [],
      notes: [],
    };
    expect(await verified(file, { head })).toEqual(wanted);
    for (const size of [1, 7, 1000]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.slice(i * size, (i + 1) * size),
      );
      expect(await verifyLedger(pieces, { verifier, head, workspace })).toEqual(wanted);
    }
  });

  const otherTail = chain(5, stranger.signer).map((record) => record.line);
  const forgedTail = chain(5, impostor.signer).map((record) => record.line);
  const third = records[2];
  const byStranger = sealRecord(entry(), { seq: 4, previousHash: third?.hash ?? "" }, stranger.signer, { salt }).line;

  it.each<[string, readonly string[], string, number, number]>([
    ["a changed word", [one, two, three.replace("edit_file", "read_file"), four, five], "broken_chain", 3, 3],
    [
      "a changed record with a fitting hash",
      [one, rehashed(two, (r) => void (r.metadata["kind"] = "undo")), three],
      "bad_signature",
      2,
      2,
    ],
    ["a removed middle record", [one, two, four, five], "broken_chain", 3, 3],
    ["a removed first record", [two, three], "broken_chain", 1, 1],
    ["swapped records", [one, three, two, four], "broken_chain", 2, 2],
    ["a repeated record", [one, two, two, three], "broken_chain", 3, 3],
    ["a repeated beginning", [one, two, one, two], "broken_chain", 3, 3],
    ["a record of another key in the chain", [one, two, three, byStranger], "unknown_key", 4, 4],
    ["the whole ledger signed anew with another key", otherTail, "unknown_key", 1, 1],
    ["the whole ledger signed anew under the name of our key", forgedTail, "bad_signature", 1, 1],
    [
      "the ledger of another workspace",
      chain(3, signer, { root: "/elsewhere" }).map((r) => r.line),
      "broken_chain",
      1,
      1,
    ],
    ["a record without its signature", [one, two.replace(/"signature":"[^"]+",/, ""), three], "malformed_line", 2, 2],
    ["a record without any seal", [one, JSON.stringify({ version: "0.1.0", files: [] }), two], "bad_signature", 2, 2],
    ["glued records", [one, two + three, four], "malformed_line", 2, 2],
    ["a line in pieces", [one, two.slice(0, 100), two.slice(100), three], "malformed_line", 2, 2],
    ["garbage in the middle", [one, "\u0000\u0000garbage", two], "malformed_line", 2, 2],
    ["an empty line in the middle", [one, "", two], "malformed_line", 2, 2],
    ["a duplicate key", [one, two.replace('{"files"', '{"files":[],"files"'), three], "malformed_line", 2, 2],
    [
      "another order of keys",
      [one, two.replace(/^\{("files":\[\]),(.*)\}$/, "{$2,$1}"), three],
      "malformed_line",
      2,
      2,
    ],
    ["spaces between tokens", [one, two.replace('":', '": '), three], "malformed_line", 2, 2],
    ["deep nesting", [one, `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`], "bad_signature", 2, 2],
    ["a huge line", [one, `"${"x".repeat(5_000_000)}"`, two], "malformed_line", 2, 2],
    ["marks of a merge", [one, "<<<<<<< HEAD", two, "=======", two, ">>>>>>> other"], "malformed_line", 2, 2],
    ["a first record that is not JSON any more", [one.slice(1), two], "malformed_line", 1, 1],
  ])("seed 001 integrity: names %s", async (_name, all, status, seq, line) => {
    const report = await verified(text(all));
    expect({ status: report.status, problem: report.problem }).toEqual({
      status,
      problem: { seq, line, offset: offsetOf(all, line) },
    });
    expect(report.records).toBe(seq - 1);
  });

  it.each([
    ["a key that occurs twice", two.replace('"metadata":{', '"metadata":{"seq":2,'), "holds a key twice: metadata.seq"],
    [
      "a key that occurs twice, by another spelling",
      two.replace('{"files"', '{"\\u0066iles":[],"files"'),
      "twice: files",
    ],
    ["a byte order mark in the middle of the file", `\ufeff${two}`, "begins with a byte order mark"],
    ["another form of the same JSON", two.replace('":', '": '), "is not in canonical form"],
  ])("says what is wrong with a record: %s", async (_name, changed, words) => {
    expect(changed).not.toBe(two);
    expect((await verified(text([one, changed, three]))).message).toContain(words);
  });

  it("seed 001 integrity: sees every flipped bit", async () => {
    const bytes = new TextEncoder().encode(text(lines.slice(0, 2)));
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length * 8 - 1), async (bit) => {
        const flipped = bytes.slice();
        const index = Math.floor(bit / 8);
        flipped[index] = (flipped[index] ?? 0) ^ (1 << (bit % 8));
        const report = await verified(flipped);
        expect(report.status).not.toBe("ok");
        const firstBad = index < Buffer.byteLength(`${one}\n`) ? 0 : Buffer.byteLength(`${one}\n`);
        expect(report.problem?.offset).toBe(report.status === "unsigned" ? 0 : firstBad);
      }),
      { numRuns: 400 },
    );
  });

  it("never throws, whatever the bytes", async () => {
    const piece = fc.oneof(
      fc.constantFrom(...lines, "\n", "\r\n", "\ufeff", "{", "}", '{"metadata":{"signature":1}}'),
      fc.string(),
      fc.json(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece), fc.uint8Array(), async (pieces, tail) => {
        const report = await verified(Buffer.concat([Buffer.from(pieces.join("")), tail]), { head });
        expect(report.status === "ok").toBe(report.records >= 5 && report.problem === undefined);
      }),
      { numRuns: 200 },
    );
  });

  it.each<[string, string, SignedHead, string]>([
    ["a head that lags behind", file, headAt(3), "ok"],
    ["a cut tail", text([one, two, three]), head, "truncated_tail"],
    ["a tail cut inside a line", file.slice(0, -20), head, "truncated_tail"],
    ["an emptied file", "", head, "truncated_tail"],
    ["old unsigned lines in place of the ledger", '{"id":"1"}\n', head, "truncated_tail"],
    [
      "another chain by the same key",
      text(chain(6, signer, { entries: () => entry({ turnId: "other" }) }).map((r) => r.line)),
      head,
      "broken_chain",
    ],
    ["a forged head", file, { ...head, seq: 4 }, "bad_signature"],
    [
      "a head of an unknown key",
      file,
      signHead({ workspace, seq: 5, hash: head.hash }, stranger.signer),
      "unknown_key",
    ],
    [
      "a head of another workspace",
      file,
      signHead({ workspace: "f".repeat(64), seq: 5, hash: head.hash }, signer),
      "bad_signature",
    ],
    ["a torn last line after the head", `${file}{"files":[],"id`, head, "torn_last_line"],
  ])("with the signed head: %s", async (_name, content, expectedHead, status) => {
    expect((await verified(content, { head: expectedHead })).status).toBe(status);
  });

  it.each<[string, string, string, readonly string[]]>([
    ["an empty ledger", "", "ok", []],
    ["a last line without its line break", file.slice(0, -1), "ok", ["unterminated"]],
    ["a byte order mark", `\ufeff${file}`, "ok", ["byte_order_mark"]],
    ["line ends of Windows", text([`${one}\r`, `${two}\r`]), "ok", ["carriage_return", "carriage_return"]],
    ["a torn last line", `${text([one, two])}${three.slice(0, 40)}`, "torn_last_line", []],
  ])("tells about %s", async (_name, content, status, notes) => {
    const report = await verified(content);
    expect({ status: report.status, notes: report.notes.map((note) => note.code) }).toEqual({ status, notes });
  });

  describe("old ledgers", () => {
    const seed = JSON.stringify({
      id: "1",
      timestamp: "2025-01-01T00:00:00Z",
      vcs: { revision_id: "abc" },
      files: [
        {
          relative_path: "src/a.ts",
          conversations: [
            { contributor: { entity_type: "AI" }, ranges: [{ start_line: 1, end_line: 2, content_hash: "sha256:00" }] },
          ],
        },
      ],
    });
    const agentTrace = JSON.stringify({
      version: "0.1.0",
      id: "2",
      timestamp: "x",
      files: [],
      metadata: { vendor: { braces: "}{" } },
    });
    const old = `${seed}\n${seed}${agentTrace}\n${seed.slice(0, 30)}\n\n${agentTrace}\n`;

    it("are read and counted, and prove nothing", async () => {
      const report = await verified(old);
      expect(report).toMatchObject({
        status: "unsigned",
        records: 0,
        unsigned: 4,
        problem: { seq: 0, offset: 0, line: 1 },
      });
      expect(report.notes).toMatchObject([
        { code: "glued", line: 2 },
        { code: "cut", line: 3 },
      ]);
    });

    const spread = JSON.stringify(JSON.parse(seed), null, 2);

    it.each([
      ["one", `${spread}\n`, 1, []],
      ["two, and a line", `${spread}\n${spread}\n${seed}\n`, 3, []],
      ["a list, with braces in a text", JSON.stringify([JSON.parse(agentTrace), JSON.parse(seed)], null, 4), 2, []],
      ["with tabs, and with CRLF", JSON.stringify(JSON.parse(seed), null, "\t").replaceAll("\n", "\r\n"), 1, []],
      ["one that was cut", `${spread}\n${spread.slice(0, 20)}\n`, 1, ["cut", "cut", "cut"]],
    ])("that stand over several lines are told about once: %s", async (_name, before, unsigned, cut) => {
      const isOther = (code: string) => code !== "carriage_return" && code !== "unterminated";
      const codes = (notes: readonly { readonly code: string }[]) => notes.map(({ code }) => code).filter(isOther);
      const alone = await verified(before);
      expect(alone).toMatchObject({ status: "unsigned", unsigned, records: 0 });
      expect(codes(alone.notes)).toEqual(["laid_out", ...cut]);
      const preamble = before.endsWith("\n") ? before : `${before}\n`;
      const after = chain(2, signer, { preamble }).map((record) => record.line);
      const report = await verified(preamble + text(after));
      expect(report).toMatchObject({ status: "ok", unsigned, records: 2 });
      expect(codes(report.notes)).toEqual(["laid_out", ...cut]);
      const changed = preamble.replace('"timestamp"', '"timeStamp"');
      expect(await verified(changed + text(after))).toMatchObject({ status: "broken_chain" });
    });

    it("over several lines hide no record of ours behind an open brace", async () => {
      const ours = text(chain(2, signer).map((record) => record.line));
      expect(await verified(`{\n${ours}`)).toMatchObject({ status: "malformed_line", records: 0 });
      const preamble = "{\n";
      const after = text(chain(2, signer, { preamble }).map((record) => record.line));
      expect(await verified(preamble + after)).toMatchObject({ status: "ok", records: 2, notes: [{ code: "cut" }] });
    });

    it("are vouched for by the record that follows them", async () => {
      const after = chain(3, signer, { preamble: old }).map((record) => record.line);
      const report = await verified(old + text(after));
      expect(report).toMatchObject({ status: "ok", records: 3, unsigned: 4 });
      const changed = old.replace("2025", "2024");
      expect(await verified(changed + text(after))).toMatchObject({
        status: "broken_chain",
        problem: { seq: 1, line: 6 },
      });
      expect(await verified(text(after))).toMatchObject({ status: "broken_chain", problem: { seq: 1, offset: 0 } });
    });

    it("may be ledgers of keys that are gone, when a signed record vouches for their bytes", async () => {
      const earlier = text(chain(2, stranger.signer).map((record) => record.line));
      const after = text(chain(2, signer, { preamble: earlier }).map((record) => record.line));
      expect(await verified(earlier + after)).toMatchObject({
        status: "ok",
        records: 2,
        notes: [{ code: "earlier_ledger" }],
      });
      const forged = text(chain(2, impostor.signer, { preamble: file }).map((record) => record.line));
      expect(await verified(file + forged)).toMatchObject({ status: "bad_signature", problem: { line: 6 } });
    });
  });
});
