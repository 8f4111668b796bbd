import { createHash, type Hash } from "node:crypto";
import type { LoggedEvent, SessionEvent } from "@gennai/agent/events/session-event";
import type { Redactor } from "@gennai/governance/redaction";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import { redacted } from "./audit/ledger-export.ts";
import type { BlobStore, SessionLog } from "./log/session-log.ts";
import { unknownSession } from "./log/session-refusals.ts";

export const bundleFormat = "gennai-session";

/** Bytes of one content that goes along. */
export const maxBundledBlob = 16 * 1024 * 1024;
const pageEvents = 500;

/**
 * A session as lines of JSON with LF: a head, its events, contents they name, and last a digest over all lines before. Every
 * text is redacted once more, by the rules of today. Contents from before changes of files, and contents in which there is
 * something to mask, stay behind: a bundle is for reading and going on, not for undo. Rejects with `StoreError`.
 */
export async function* exportSession(
  parts: { readonly log: SessionLog; readonly blobs: BlobStore; readonly redactor: Redactor },
  sessionId: string,
): AsyncGenerator<string, void, undefined> {
  const head = await parts.log.head(sessionId);
  if (head === undefined) throw unknownSession(sessionId);
  const digest = createHash("sha256");
  const { title, created, lastSeq } = head;
  yield line(
    { format: bundleFormat, version: 1, sessionId, title: await parts.redactor.redact(title), created, lastSeq },
    digest,
  );
  const blobs = new Map<string, BlobRef>();
  for (let after = 0; after < lastSeq; ) {
    const page = await parts.log.read(sessionId, after, pageEvents);
    if (page.length === 0) break;
    for (const logged of page) {
      if (logged.seq > lastSeq) break;
      for (const blob of blobsOf(logged.event)) blobs.set(blob.sha256, blob);
      yield line({ event: await redactedEvent(logged, parts.redactor) }, digest);
    }
    after = page.at(-1)?.seq ?? lastSeq;
  }
  for (const blob of blobs.values()) {
    const bytes = await parts.blobs.get(blob.sha256);
    if (bytes === undefined || bytes.length > maxBundledBlob || (await hasSecret(bytes, blob, parts.redactor)))
      continue;
    yield line({ blob: { ...blob, content: Buffer.from(bytes).toString("base64") } }, digest);
  }
  yield `${JSON.stringify({ sha256: digest.digest("hex") })}\n`;
}

/** What the conversation needs: outputs, also those the model was told the place of, and images. */
function blobsOf(event: SessionEvent): readonly BlobRef[] {
  if (event.type === "user-message") return event.images;
  if (event.type !== "tool-result") return [];
  return [event.outputBlob, event.wholeOutput, ...(event.images ?? [])].filter((blob) => blob !== undefined);
}

async function redactedEvent(logged: LoggedEvent, redactor: Redactor): Promise<unknown> {
  const plain: unknown = JSON.parse(JSON.stringify(logged));
  return (await redacted(plain, redactor)).value;
}

async function hasSecret(bytes: Uint8Array, blob: BlobRef, redactor: Redactor): Promise<boolean> {
  if (blob.mediaType.startsWith("image/")) return false;
  const text = Buffer.from(bytes).toString("utf8");
  return (await redactor.redact(text)) !== text;
}

function line(value: unknown, digest: Hash): string {
  const text = `${JSON.stringify(value)}\n`;
  digest.update(text);
  return text;
}
