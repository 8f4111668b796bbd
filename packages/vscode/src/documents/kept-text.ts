import { type ContentSource, checkedBlob, shownText, sideOf } from "@gennai/client/review/change-content";

/** A text that the session's events name by its digest; empty without one. Rejects if it cannot be loaded, or does not match the digest. */
export async function keptText(session: ContentSource, sha256: string | undefined): Promise<string> {
  if (sha256 === undefined) return "";
  const signal = AbortSignal.timeout(10_000);
  return shownText(sideOf(await checkedBlob(sha256, "the file", session.blob.bind(session), { signal })));
}
