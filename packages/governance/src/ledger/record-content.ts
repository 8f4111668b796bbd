import { canonicalJson } from "@gennai/protocol/canonical-json";
import { sha256Hex } from "@gennai/protocol/digest";
import { isRecord } from "@gennai/protocol/json-value";

/**
 * A record has two parts. The chain covers the fixed part, and only a salted digest of the content: so the content can be
 * purged without breaking the chain, and short contents cannot be found by guessing.
 */
const contentMembers: ReadonlySet<string> = new Set(["calls", "changes", "details", "session_id", "turn_id"]);
const sealMembers: ReadonlySet<string> = new Set(["hash", "signature", "salt", "purged"]);

type JsonObject = Readonly<Record<string, unknown>>;

/** @param salt 32 hex digits */
export function contentDigest(content: JsonObject, salt: string): string {
  return sha256Hex(`${salt}:${canonicalJson(content)}`);
}

/** The parts of a record, sealed or not; in canonical order where the record is. */
export function partsOf(
  record: JsonObject,
  metadata: JsonObject,
): { readonly fixed: JsonObject; readonly content: JsonObject } {
  const fixed: [string, unknown][] = [];
  const content: [string, unknown][] = [];
  for (const entry of Object.entries(metadata)) {
    if (contentMembers.has(entry[0])) content.push(entry);
    else if (!sealMembers.has(entry[0])) fixed.push(entry);
  }
  const { files } = record;
  const filesAt = content.findIndex(([name]) => name > "files");
  if (files !== undefined) content.splice(filesAt === -1 ? content.length : filesAt, 0, ["files", files]);
  const rest = Object.entries(record).filter(([name]) => name !== "files");
  return {
    fixed: { ...Object.fromEntries(rest), metadata: Object.fromEntries(fixed) },
    content: Object.fromEntries(content),
  };
}

/** The content of a record as it was read: as it was written, gone by a purge, or neither. */
export function contentState(content: JsonObject, metadata: JsonObject): "intact" | "purged" | "changed" {
  const { purged, salt, content_digest: digest } = metadata;
  if (purged !== undefined) {
    const isEmpty =
      Object.keys(content).length === 1 && Array.isArray(content["files"]) && content["files"].length === 0;
    return purged === true && salt === undefined && isEmpty ? "purged" : "changed";
  }
  return typeof salt === "string" && contentDigest(content, salt) === digest ? "intact" : "changed";
}

/** A record's line without its content; the same line when it has none any more. Throws `SyntaxError` for what is not a record. */
export function withoutContent(line: string): string {
  const record: unknown = JSON.parse(line);
  if (!isRecord(record) || !isRecord(record["metadata"]))
    throw new SyntaxError("The line is not a record of a ledger.");
  const { metadata } = record;
  if (metadata["purged"] === true) return line;
  const kept = Object.entries(metadata).filter(([name]) => !contentMembers.has(name) && name !== "salt");
  return canonicalJson({ ...record, files: [], metadata: { ...Object.fromEntries(kept), purged: true } });
}
