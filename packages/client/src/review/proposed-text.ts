import type { ProposedChange } from "@gennai/protocol/model/session/proposal";

/** Source of contents that are too large for an event. */
export interface ContentSource {
  blob(sha256: string, options: { readonly signal: AbortSignal }): Promise<Uint8Array>;
}

/** The whole text after a change that is no delete. Rejects when it cannot be fetched, or is not UTF-8. */
export async function proposedText(
  { newContent, newContentBlob }: ProposedChange,
  { session, signal }: { readonly session: ContentSource; readonly signal: AbortSignal },
): Promise<string> {
  if (newContentBlob === undefined) return newContent;
  const bytes = await session.blob(newContentBlob.sha256, { signal });
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}
