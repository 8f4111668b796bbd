import { sha256Hex } from "@gennai/protocol/digest";
import { structuredPatch } from "diff";
import { type DiffRow, diffRows } from "../review/diff/diff-rows.ts";

/** What a record did to one file. */
export interface FileVersion {
  readonly path: string;
  readonly operation: string;
  /** SHA-256 of its bytes, lower-case hex; empty: there was no file, or the record does not say. */
  readonly beforeSha256: string;
  readonly afterSha256: string;
}

/** Loads the bytes of a digest. Rejects if they are not kept. */
export type VersionSource = (sha256: string, options: { readonly signal: AbortSignal }) => Promise<Uint8Array>;

/** The text of a digest; empty for an empty one. Rejects if it is not text, not kept, or does not match the digest. */
export async function versionText(
  sha256: string,
  source: VersionSource,
  options: { readonly signal: AbortSignal },
): Promise<string> {
  if (sha256 === "") return "";
  const bytes = await source(sha256, options);
  if (sha256Hex(bytes) !== sha256) throw new Error("The server sent other bytes than the record names.");
  const text = new TextDecoder().decode(bytes);
  if (text.includes("\0") || text.includes("\uFFFD")) throw new Error("It is not UTF-8 text.");
  return text;
}

/** Unchanged lines that are shown around a difference. */
const context = 3;
/** Milliseconds that a comparison may take. */
const timeoutMs = 2000;

/** The differences between two texts, each with the lines around it; undefined if finding them takes too long. */
export function versionDiff(before: string, after: string): readonly (readonly DiffRow[])[] | undefined {
  const patch = structuredPatch("", "", before, after, undefined, undefined, { context, timeout: timeoutMs });
  return patch?.hunks.map(({ lines, oldStart, newStart }) => {
    const side = (mark: "-" | "+") =>
      lines.filter((line) => line.startsWith(" ") || line.startsWith(mark)).map((line) => `${line.slice(1)}\n`);
    return diffRows(side("-"), side("+"), oldStart, newStart);
  });
}
