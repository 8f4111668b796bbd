import { createHash, randomUUID } from "node:crypto";
import { endStates, type SessionEvent } from "@gennai/agent/events/session-event";
import { type LedgerEntry, outsideTurns } from "@gennai/governance/ledger/ledger-entry";
import { parsedJson } from "@gennai/protocol/json-value";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import * as z from "zod";
import { StoreError } from "./database/store-error.ts";
import { bundleFormat, maxBundledBlob } from "./export-session.ts";
import { importedEvent } from "./imported-event.ts";
import type { BlobStore, EventDraft, SessionLog } from "./log/session-log.ts";

/** Of a whole bundle. */
const maxBundleBytes = 256 * 1024 * 1024;
const maxEvents = 200_000;
const maxBlobs = 10_000;
const batchEvents = 500;

const headSchema = z.object({
  format: z.literal(bundleFormat),
  version: z.literal(1),
  sessionId: z.string().max(200),
  title: z.string().max(200),
});
const newerSchema = z.object({ format: z.literal(bundleFormat), version: z.int().min(2) });
const lineSchema = z.union([
  z.object({
    event: z.object({ turnId: z.string().max(200), itemId: z.string().max(200), time: z.number(), event: z.unknown() }),
  }),
  z.object({
    blob: z.object({
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      size: z.int().min(0).max(maxBundledBlob),
      mediaType: z.string().max(100),
      content: z.base64(),
    }),
  }),
  z.object({ sha256: z.string() }),
]);

interface Bundle {
  readonly head: z.infer<typeof headSchema>;
  readonly sha256: string;
  readonly events: readonly (Omit<EventDraft, "event"> & { readonly event: unknown })[];
  readonly blobs: ReadonlyMap<string, { readonly bytes: Uint8Array; readonly mediaType: string }>;
}

export interface ImportedSession {
  readonly sessionId: string;
  readonly events: number;
  /** Events of which nothing was taken. */
  readonly leftOut: number;
}

/**
 * Makes a new session of a bundle. The bundle is believed in nothing: its digest tells damage, not origin; only what was said
 * comes in, as a history that says where it is from; ids are new; the ledger gets one record of the import and none of the
 * bundle's. Rejects with `StoreError` `bad_bundle`; nothing was made then.
 */
export async function importSession(
  parts: { readonly log: SessionLog; readonly blobs: BlobStore },
  bytes: Uint8Array,
  options: { readonly workspaceRoot: string; readonly settings: SessionSettings; readonly now: () => number },
): Promise<ImportedSession> {
  const bundle = parseBundle(bytes);
  const { workspaceRoot, settings, now } = options;
  const time = now();
  const drafts: EventDraft[] = [];
  const turnIds = new Map<string, string>();
  const open = new Set<string>();
  const hasBlob = (blob: BlobRef): boolean => bundle.blobs.get(blob.sha256)?.bytes.length === blob.size;
  for (const { turnId, itemId, time: then, event } of bundle.events) {
    const newTurnId = turnIds.get(turnId) ?? randomUUID();
    turnIds.set(turnId, newTurnId);
    const taken = importedEvent(event, hasBlob, newTurnId);
    if (taken === undefined) continue;
    if (taken.type === "status" && endStates.has(taken.state)) open.delete(newTurnId);
    else if (taken.type === "status") open.add(newTurnId);
    drafts.push({ turnId: turnId === "" ? "" : newTurnId, itemId, time: timeOf(then, time), event: taken });
  }
  // Nobody will ever end these.
  for (const turnId of open) {
    drafts.push({ turnId, itemId: "", time, event: { type: "status", state: "interrupted", iteration: 0 } });
  }
  for (const { bytes: content, mediaType } of bundle.blobs.values()) await parts.blobs.put(content, mediaType);

  const sessionId = randomUUID();
  await parts.log.create({ sessionId, workspaceRoot, time });
  const { sha256, head } = bundle;
  const beginning: readonly SessionEvent[] = [
    { type: "session-started", workingDir: workspaceRoot, settings },
    {
      type: "warning",
      text: "This session was imported. What it says happened elsewhere, and nobody checked it here.",
    },
  ];
  let seq = 0;
  const all = [...beginning.map((event): EventDraft => ({ turnId: "", itemId: "", time, event })), ...drafts];
  for (let at = 0; at < all.length; at += batchEvents) {
    const events = all.slice(at, at + batchEvents);
    const details = { imported: sha256, importedFrom: head.sessionId.slice(0, 64) };
    const record: LedgerEntry = { ...outsideTurns, kind: "session", time, sessionId, details };
    await parts.log.append(sessionId, { events, ledger: at === 0 ? [record] : [], durable: true }, { seq, epoch: 1 });
    seq += events.length;
  }
  const title = head.title.replaceAll(/\p{Cc}/gu, " ").trim();
  await parts.log.setTitle(sessionId, `Imported: ${title}`.slice(0, 200).trimEnd());
  return { sessionId, events: drafts.length, leftOut: bundle.events.length - drafts.length + open.size };
}

function parseBundle(bytes: Uint8Array): Bundle {
  if (bytes.length > maxBundleBytes) throw badBundle(`it is larger than ${maxBundleBytes} bytes`);
  const text = new TextDecoder("utf-8", { fatal: true });
  let lines: readonly string[];
  try {
    lines = text.decode(bytes).split("\n");
  } catch {
    throw badBundle("it is not text");
  }
  if (lines.at(-1) !== "") throw badBundle("its end is missing");
  const last = lines.at(-2) ?? "";
  const body = lines.slice(0, -2);
  const sha256 = createHash("sha256")
    .update(body.map((line) => `${line}\n`).join(""))
    .digest("hex");
  const end = parsed(last);
  if (end === undefined || !("sha256" in end) || end.sha256 !== sha256)
    throw badBundle("its digest is another, so it is damaged");
  const first = parsedJson(body[0] ?? "");
  const later = newerSchema.safeParse(first);
  if (later.success) {
    throw badBundle(`a newer Gennai wrote it, as version ${later.data.version}, and this one reads 1: update Gennai`);
  }
  const head = headSchema.safeParse(first);
  if (!head.success) throw badBundle("its first line names no version that is known here");
  const events: Bundle["events"][number][] = [];
  const blobs = new Map<string, { readonly bytes: Uint8Array; readonly mediaType: string }>();
  for (const [index, line] of body.slice(1).entries()) {
    const value = parsed(line);
    if (value === undefined || "sha256" in value) throw badBundle(`line ${index + 2} does not belong in a bundle`);
    if ("event" in value) events.push(value.event);
    else {
      const content = Buffer.from(value.blob.content, "base64");
      const digest = createHash("sha256").update(content).digest("hex");
      if (digest !== value.blob.sha256) throw badBundle(`line ${index + 2} holds another content than its digest says`);
      blobs.set(digest, { bytes: content, mediaType: value.blob.mediaType });
    }
    if (events.length > maxEvents || blobs.size > maxBlobs) throw badBundle("it holds too much");
  }
  return { head: head.data, sha256, events, blobs };
}

function parsed(line: string): z.infer<typeof lineSchema> | undefined {
  const result = lineSchema.safeParse(parsedJson(line));
  return result.success ? result.data : undefined;
}

function timeOf(then: number, now: number): number {
  return Number.isFinite(then) && then > 0 && then < now ? Math.trunc(then) : now;
}

function badBundle(why: string): StoreError {
  return new StoreError("bad_bundle", `This is not a session that can be imported: ${why}.`);
}
