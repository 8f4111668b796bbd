import { CanonicalJsonError, canonicalJson } from "@gennai/protocol/canonical-json";
import { digestOf } from "@gennai/protocol/digest";
import { isRecord } from "@gennai/protocol/json-value";
import { repeatedKey } from "@gennai/protocol/strict-json";
import type { FileLine } from "./ledger-line.ts";
import type { LedgerGenesis, LedgerHandOver } from "./ledger-record.ts";
import { rangesOfTombstone, type SeqRange } from "./purged-records.ts";
import { contentState, partsOf } from "./record-content.ts";

/** The result of reading a ledger line. */
export type LedgerLine =
  /** A signed record of ours; nothing about it is checked yet but its form. */
  | { readonly type: "record"; readonly record: ReadRecord }
  /** Old or foreign records without a signature; more than one when lines were glued together. */
  | { readonly type: "unsigned"; readonly records: number; readonly note?: "glued" }
  | { readonly type: "blank" }
  | { readonly type: "malformed"; readonly reason: string };

export interface ReadRecord {
  readonly seq: number;
  readonly previousHash: string;
  readonly genesis: LedgerGenesis | undefined;
  readonly keyId: string;
  readonly hash: string;
  readonly signature: string;
  /** The hash of its fixed part; equals `hash` unless the record was changed. */
  readonly fixedHash: string;
  readonly content: "intact" | "purged" | "changed";
  /** The key that signs after this record. */
  readonly handOver: LedgerHandOver | undefined;
  /** For a `rollback` record: the ledger had reached `from` and went back to `to`. */
  readonly lost: { readonly from: number; readonly to: number } | undefined;
  /** For a tombstone: the records whose content was removed. */
  readonly purges: readonly SeqRange[];
}

/** @param text of the line, without byte order mark and line break */
export function readLedgerLine(text: string): LedgerLine {
  if (text.trim() === "") return { type: "blank" };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const glued = countGlued(text);
    if (glued === undefined) {
      const marked = text.startsWith("\ufeff");
      return { type: "malformed", reason: marked ? "begins with a byte order mark" : "is not JSON" };
    }
    return text.includes('"previous_hash"')
      ? { type: "malformed", reason: `holds ${glued} records on one line` }
      : { type: "unsigned", records: glued, note: "glued" };
  }
  if (!isRecord(value)) return { type: "malformed", reason: "is not a JSON object" };
  const metadata = value["metadata"];
  if (!isRecord(metadata) || !("previous_hash" in metadata || "signature" in metadata)) {
    const tool = value["tool"];
    if (isRecord(tool) && tool["name"] === "gennai") return { type: "malformed", reason: "lost its seal" };
    return { type: "unsigned", records: 1 };
  }
  return readRecord(text, value, metadata);
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Text of a line; undefined when it is not UTF-8. Byte order mark and carriage return are named and taken off. */
export function decodeLine(
  line: FileLine,
): { readonly text: string; readonly byteOrderMark: boolean; readonly carriageReturn: boolean } | undefined {
  let text: string;
  try {
    text = utf8.decode(line.bytes);
  } catch {
    return undefined;
  }
  const byteOrderMark = line.number === 1 && text.startsWith("\ufeff");
  const carriageReturn = text.endsWith("\r");
  return { text: text.slice(byteOrderMark ? 1 : 0, carriageReturn ? -1 : undefined), byteOrderMark, carriageReturn };
}

function readRecord(text: string, value: Record<string, unknown>, metadata: Record<string, unknown>): LedgerLine {
  const { seq, previous_hash: previousHash, key_id: keyId, hash, signature, genesis, hand_over: handOver } = metadata;
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 1) return malformedMember("seq");
  if (typeof previousHash !== "string") return malformedMember("previous_hash");
  if (typeof keyId !== "string") return malformedMember("key_id");
  if (typeof hash !== "string") return malformedMember("hash");
  if (typeof signature !== "string") return malformedMember("signature");
  if (genesis !== undefined && !isGenesis(genesis)) return malformedMember("genesis");
  if (handOver !== undefined && !isHandOver(handOver)) return malformedMember("hand_over");
  try {
    // Also refuses duplicate keys, of which JSON.parse would silently keep the last.
    if (canonicalJson(value) !== text) return { type: "malformed", reason: formProblem(text) };
  } catch (error) {
    if (error instanceof CanonicalJsonError)
      return { type: "malformed", reason: `is not canonical JSON: ${error.code}` };
    throw error;
  }
  const parts = partsOf(value, metadata);
  const fixedHash = digestOf(parts.fixed);
  const content = contentState(parts.content, metadata);
  const purges = metadata["kind"] === "purge" ? rangesOfTombstone(metadata["details"]) : [];
  if (purges === undefined) return malformedMember("details of a purge");
  const lost = metadata["kind"] === "rollback" ? lostRecords(metadata["details"]) : undefined;
  if (lost === null) return malformedMember("details of a rollback");
  const record = { seq, previousHash, genesis, keyId, hash, signature, fixedHash, content, handOver, purges, lost };
  return { type: "record", record };
}

/** Why a record is not as it was written. */
function formProblem(text: string): string {
  const twice = repeatedKey(text);
  return twice === undefined ? "is not in canonical form" : `holds a key twice: ${twice}`;
}

function malformedMember(name: string): LedgerLine {
  return { type: "malformed", reason: `has no valid metadata.${name}` };
}

/** undefined for one whose content was withheld; null for anything else. */
function lostRecords(details: unknown): ReadRecord["lost"] | null {
  if (details === undefined) return undefined;
  if (!isRecord(details) || !Number.isSafeInteger(details["from"]) || !Number.isSafeInteger(details["to"])) return null;
  return { from: Number(details["from"]), to: Number(details["to"]) };
}

function isGenesis(value: unknown): value is LedgerGenesis {
  return (
    isRecord(value) &&
    Object.keys(value).length === 3 &&
    typeof value["workspace"] === "string" &&
    typeof value["preamble_bytes"] === "number" &&
    typeof value["preamble_sha256"] === "string"
  );
}

function isHandOver(value: unknown): value is LedgerHandOver {
  return (
    isRecord(value) &&
    Object.keys(value).length === 3 &&
    typeof value["key_id"] === "string" &&
    typeof value["public_key"] === "string" &&
    typeof value["signature"] === "string"
  );
}

/** Number of JSON objects on one line with nothing between them; undefined for any other line. */
function countGlued(text: string): number | undefined {
  let count = 0;
  let depth = 0;
  let start = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (inString) {
      if (character === "\\") index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') {
      inString = true;
    } else if (character === "{") {
      depth += 1;
    } else if (character === "}") {
      depth -= 1;
      if (depth > 0) continue;
      try {
        JSON.parse(text.slice(start, index + 1));
      } catch {
        return undefined;
      }
      count += 1;
      start = index + 1;
    }
  }
  return count > 1 && text.slice(start).trim() === "" ? count : undefined;
}
