import { utf8Text } from "@gennai/protocol/diff/utf8-text";
import { sha256Hex } from "@gennai/protocol/digest";
import { errorMessage } from "@gennai/protocol/error-message";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { CallOptions } from "../connection/connection.ts";

/** One side of a change, as far as it can be shown. */
export type ContentSide =
  /** There is no file on this side. */
  | { readonly type: "absent" }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "binary"; readonly bytes: number };

/** Both sides of a change. `unverified`: the loaded bytes are not what would be applied, or could not be loaded. */
export type ChangeContent =
  | { readonly type: "loading" }
  | { readonly type: "loaded"; readonly base: ContentSide; readonly fresh: ContentSide }
  | { readonly type: "unverified"; readonly reason: string };

/** Returns the bytes of a digest. Rejects if there are none. */
export type BlobSource = (sha256: string, options: CallOptions) => Promise<Uint8Array>;

/** A session, as the source of what its events name by digests. */
export interface ContentSource {
  blob: BlobSource;
}

/**
 * Fetches both sides of a change and checks them against their digests, so that what is shown is what would be applied. Rejects
 * only if the signal aborts.
 */
export async function loadChangeContent(
  change: ProposedChange,
  blob: BlobSource,
  options: CallOptions,
): Promise<ChangeContent> {
  try {
    const [base, fresh] = await Promise.all([baseOf(change, blob, options), freshOf(change, blob, options)]);
    return { type: "loaded", base, fresh };
  } catch (error) {
    options.signal.throwIfAborted();
    return { type: "unverified", reason: errorMessage(error) };
  }
}

/** The whole text after a change that is no delete, checked. Rejects when it cannot be fetched, or is no text. */
export async function proposedText(
  change: ProposedChange,
  { session, signal }: { readonly session: ContentSource; readonly signal: AbortSignal },
): Promise<string> {
  const fresh = await freshOf(change, session.blob.bind(session), { signal });
  if (fresh.type === "text") return fresh.text;
  throw new Error(`${change.path} is no text.`);
}

/** The text that a change was based on, checked; undefined if it is not kept any more, or no text. Rejects if the signal aborts. */
export async function originalText(
  change: ProposedChange,
  { session, signal }: { readonly session: ContentSource; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const base = await baseOf(change, session.blob.bind(session), { signal }).catch(() => undefined);
  signal.throwIfAborted();
  return base?.type === "text" ? base.text : undefined;
}

async function baseOf(change: ProposedChange, blob: BlobSource, options: CallOptions): Promise<ContentSide> {
  const { operation, baseSha256, baseBlob } = change;
  if (operation === "create" || baseSha256 === "") return { type: "absent" };
  return sideOf(await checkedBlob(baseBlob?.sha256 ?? baseSha256, "the file as it is now", blob, options));
}

async function freshOf(change: ProposedChange, blob: BlobSource, options: CallOptions): Promise<ContentSide> {
  const { operation, newContent, newContentBlob } = change;
  if (operation === "delete") return { type: "absent" };
  const isHere = newContentBlob === undefined || (newContent !== "" && sha256Hex(newContent) === newContentBlob.sha256);
  if (isHere) return { type: "text", text: newContent };
  return sideOf(await checkedBlob(newContentBlob.sha256, "the proposed text", blob, options));
}

/** The bytes of a digest. Rejects if they cannot be loaded, or do not match it. @param what what they are, for the error */
export async function checkedBlob(
  sha256: string,
  what: string,
  blob: BlobSource,
  options: CallOptions,
): Promise<Uint8Array> {
  const name = what.charAt(0).toUpperCase() + what.slice(1);
  let bytes: Uint8Array;
  try {
    bytes = await blob(sha256, options);
  } catch (error) {
    throw new Error(`${name} could not be fetched: ${errorMessage(error)}`);
  }
  if (sha256Hex(bytes) === sha256) return bytes;
  throw new Error(`${name} is not what its digest says, and is not used.`);
}

/** Bytes as text, if they are text. */
export function sideOf(bytes: Uint8Array): ContentSide {
  const text = utf8Text(bytes);
  return text === undefined || text.includes("\0") ? { type: "binary", bytes: bytes.length } : { type: "text", text };
}

/** A side for a reader who sees nothing but text. */
export function shownText(side: ContentSide): string {
  return side.type === "text" ? side.text : side.type === "binary" ? `(no text: ${side.bytes} bytes)\n` : "";
}
