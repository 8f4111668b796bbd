import { sha256Hex } from "@gennai/protocol/digest";
import { errorMessage } from "@gennai/protocol/error-message";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";

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
export type BlobSource = (sha256: string, options: { readonly signal: AbortSignal }) => Promise<Uint8Array>;

/**
 * Fetches both sides of a change and checks them against their digests, so that what is shown is what would be applied. Rejects
 * only if the signal aborts.
 */
export async function loadChangeContent(
  change: ProposedChange,
  blob: BlobSource,
  options: { readonly signal: AbortSignal },
): Promise<ChangeContent> {
  try {
    const [base, fresh] = await Promise.all([baseOf(change, blob, options), freshOf(change, blob, options)]);
    return { type: "loaded", base, fresh };
  } catch (error) {
    options.signal.throwIfAborted();
    return { type: "unverified", reason: error instanceof Error ? error.message : "The content could not be had." };
  }
}

async function baseOf(
  change: ProposedChange,
  blob: BlobSource,
  options: { readonly signal: AbortSignal },
): Promise<ContentSide> {
  if (change.operation === "create" || change.baseSha256 === "") return { type: "absent" };
  return sideOf(
    await checkedBlob(change.baseBlob?.sha256 ?? change.baseSha256, "the file as it is now", blob, options),
  );
}

async function freshOf(
  change: ProposedChange,
  blob: BlobSource,
  options: { readonly signal: AbortSignal },
): Promise<ContentSide> {
  if (change.operation === "delete") return { type: "absent" };
  if (change.newContentBlob === undefined) return { type: "text", text: change.newContent };
  if (change.newContent !== "" && sha256Hex(change.newContent) === change.newContentBlob.sha256) {
    return { type: "text", text: change.newContent };
  }
  return sideOf(await checkedBlob(change.newContentBlob.sha256, "the proposed text", blob, options));
}

/** The bytes of a digest. Rejects if they cannot be loaded, or do not match it. @param what what they are, for the error */
export async function checkedBlob(
  sha256: string,
  what: string,
  blob: BlobSource,
  options: { readonly signal: AbortSignal },
): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    bytes = await blob(sha256, options);
  } catch (error) {
    throw new Error(`${capital(what)} could not be fetched: ${errorMessage(error)}`);
  }
  if (sha256Hex(bytes) === sha256) return bytes;
  throw new Error(`${capital(what)} is not what its digest says. Nothing of this file can be kept.`);
}

/** Bytes as text, if they are text. */
export function sideOf(bytes: Uint8Array): ContentSide {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? { type: "binary", bytes: bytes.length } : { type: "text", text };
  } catch {
    return { type: "binary", bytes: bytes.length };
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
