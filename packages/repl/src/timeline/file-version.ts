import type { CallOptions } from "@gennai/client/connection/connection";
import { type BlobSource, checkedBlob, sideOf } from "@gennai/client/review/change-content";

/** The text of a digest; empty for an empty one. Rejects if it is not text, not kept, or does not match the digest. */
export async function versionText(sha256: string, source: BlobSource, options: CallOptions): Promise<string> {
  if (sha256 === "") return "";
  const side = sideOf(await checkedBlob(sha256, "the file", source, options));
  if (side.type === "text") return side.text;
  throw new Error("It is not UTF-8 text.");
}
