import { describe, expect, it } from "vitest";
import { sealRecord } from "#ledger/ledger-record";
import { type Purge, tombstones } from "#ledger/purged-records";
import { withoutContent } from "#ledger/record-content";
import { verifyLedger } from "#ledger/verify-ledger";
import { chain, entry, keyPair, salt } from "./ledger-fixture.ts";

const { signer, verifier } = keyPair("key-1");
const marker = "ada lovelace, 17 mill lane";
const records = chain(4, signer, { entries: (seq) => entry({ sessionId: marker, details: { seq, text: marker } }) });
const lines = records.map(({ line }) => line);

function tombstoneOf(purged: readonly number[]): string {
  const purge: Purge = { scope: "session", records: purged, removed: { events: 7 }, by: "ada", time: 1 };
  const last = records.at(-1);
  const [tombstone] = tombstones(purge);
  return sealRecord(tombstone ?? entry(), { seq: 5, previousHash: last?.hash ?? "" }, signer, { salt }).line;
}

function verify(all: readonly string[]) {
  return verifyLedger([new TextEncoder().encode(all.map((line) => `${line}\n`).join(""))], { verifier });
}

/** The lines with some of them changed; by seq. */
function changed(
  changes: Readonly<Record<number, (line: string) => string>>,
  ...more: readonly string[]
): readonly string[] {
  return [...lines.map((line, index) => changes[index + 1]?.(line) ?? line), ...more];
}

const edit = (change: (record: { files: unknown; metadata: Record<string, unknown> }) => void) => (line: string) => {
  const record = JSON.parse(line);
  change(record);
  return sorted(record);
};

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
}

describe("a purged ledger", () => {
  it("keeps its chain, its signatures and nothing of the content", async () => {
    const purged = changed({ 2: withoutContent, 3: withoutContent }, tombstoneOf([2, 3]));
    expect(await verify(purged)).toMatchObject({ status: "ok", records: 5, purged: 2 });
    const text = withoutContent(lines[1] ?? "");
    for (const part of [marker, "turn-", "edit_file", "src/main.ts", salt]) expect(text).not.toContain(part);
    expect(withoutContent(text)).toBe(text);
  });

  it.each([
    ["content is gone and nobody says so", changed({ 2: withoutContent }), 2],
    ["more is gone than was said", changed({ 2: withoutContent, 3: withoutContent }, tombstoneOf([2])), 3],
    ["content was changed", changed({ 2: edit((record) => (record.metadata["details"] = {})) }), 2],
    [
      "content was changed and called purged",
      changed({ 2: edit((record) => (record.metadata["purged"] = true)) }, tombstoneOf([2])),
      2,
    ],
    [
      "a file was put into a purged record",
      changed({ 2: (line) => edit((record) => (record.files = [{}]))(withoutContent(line)) }, tombstoneOf([2])),
      2,
    ],
    ["the salt was changed", changed({ 2: edit((record) => (record.metadata["salt"] = "00".repeat(16))) }), 2],
    ["the salt is gone", changed({ 2: edit((record) => delete record.metadata["salt"]) }), 2],
    ["something was added", changed({ 2: edit((record) => (record.metadata["more"] = 1)) }), 2],
    ["the tombstone itself is empty", [...changed({ 2: withoutContent }), withoutContent(tombstoneOf([2]))], 5],
  ])("is broken when %s", async (_name, all, seq) => {
    const report = await verify(all);
    expect(report.status === "broken_chain" || report.status === "malformed_line").toBe(true);
    expect(report.problem).toMatchObject({ seq });
  });

  it("says in several tombstones what does not fit into one", async () => {
    const every = Array.from({ length: 3_000 }, (_, index) => index * 2 + 1);
    const entries = tombstones({ scope: "workspace", records: every, removed: { events: 1 }, by: "ada", time: 1 });
    expect(entries.map(({ details }) => details["records"])).toHaveLength(6);
    expect(entries.flatMap(({ details }) => details["records"])).toEqual(every.map((seq) => [seq, seq]));
    expect(
      tombstones({ scope: "workspace", records: [3, 1, 2, 9], removed: {}, by: "", time: 1 })[0]?.details["records"],
    ).toEqual([
      [1, 3],
      [9, 9],
    ]);
    expect(tombstones({ scope: "session", records: [], removed: { events: 1 }, by: "", time: 1 })).toHaveLength(1);
  });
});
