import { sha256Hex } from "@gennai/protocol/digest";

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
