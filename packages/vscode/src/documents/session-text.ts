import type { ContentSource } from "@gennai/client/review/proposed-text";
import { sha256Hex } from "@gennai/protocol/digest";

/** A text that the session's events name by its digest. Rejects if it cannot be loaded, or does not match the digest. */
export async function sessionText(session: ContentSource, sha256: string): Promise<string> {
  const bytes = await session.blob(sha256, { signal: AbortSignal.timeout(10_000) });
  if (sha256Hex(bytes) !== sha256)
    throw new Error("The server sent other bytes than the session names. Nothing is shown.");
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
