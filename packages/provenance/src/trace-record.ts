import { createHash } from "node:crypto";
import {
  decodeSignature,
  encodeSignature,
  noteMessage,
  type Signer,
  type Verifier,
} from "@gennai/governance/ledger/ledger-signature";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { digestOf } from "@gennai/protocol/digest";
import { parsedJson } from "@gennai/protocol/json-value";
import * as z from "zod";
import type { RecordedWrite } from "./matching/recorded-write.ts";

const range = z.object({
  start_line: z.int().min(1).max(1_000_000),
  end_line: z.int().min(1).max(1_000_000),
  content_hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
});

const text = z.string().max(1_000);

const decision = z.discriminatedUnion("type", [
  z.object({ type: z.literal("untold") }),
  z.object({ type: z.literal("allowed"), rule: text }),
  z.object({ type: z.literal("approved"), rule: text, by: text, scope: text }),
  z.object({
    type: z.literal("reviewed"),
    proposalId: text,
    kept: z.number(),
    refused: z.number(),
    edited: z.number(),
  }),
  z.object({ type: z.literal("planned"), step: text, rule: text }),
  z.object({ type: z.literal("person") }),
]);

const write = z.object({
  seq: z.int().min(1),
  record_id: text,
  time: z.iso.datetime(),
  operation: z.enum(["create", "update", "delete"]),
  session_id: text.optional(),
  turn_id: text.optional(),
  call: z.object({ id: text, tool: text }).optional(),
  agent: text.optional(),
  intent: text.optional(),
  decision,
  verification: z.enum(["verified", "unverified", "failed", "untold"]),
  is_undo: z.boolean(),
});

/**
 * What goes along with one commit: an Agent Trace 0.1.0 record. Each conversation is of one write, and names it under `related` by
 * `urn:uuid:` and its record's id; `metadata` holds what is ours, and the signature.
 */
const traceSchema = z.object({
  version: z.literal("0.1.0"),
  id: z.uuid(),
  timestamp: z.iso.datetime(),
  vcs: z.object({ type: z.literal("git"), revision: z.string().regex(/^[0-9a-f]{40,64}$/) }),
  tool: z.object({ name: z.literal("gennai"), version: text }),
  files: z
    .array(
      z.object({
        path: z.string().min(1).max(4_096),
        conversations: z.array(
          z.object({
            contributor: z.object({ type: z.enum(["ai", "human"]), model_id: z.string().max(250).optional() }),
            ranges: z.array(range).max(20_000),
            related: z.array(z.object({ type: text, url: text })).min(1),
          }),
        ),
      }),
    )
    .max(20_000),
  metadata: z.object({
    "dev.gennai": z.object({ writes: z.array(write).max(20_000), key_id: text, signature: z.string().optional() }),
  }),
});

export type TraceRecord = z.infer<typeof traceSchema>;

/** Lines of one file that one write brought, 1-based. */
export interface TracedLines {
  readonly path: string;
  readonly write: RecordedWrite;
  readonly ranges: readonly { readonly start: number; readonly end: number; readonly text: string }[];
}

/** Signs what is to go along with a commit. The writes say as much as they are handed over with. */
export function traceRecord(
  lines: readonly TracedLines[],
  about: { readonly revision: string; readonly time: number; readonly toolVersion: string },
  signer: Signer,
): TraceRecord {
  const writes = new Map(lines.map(({ write }) => [write.seq, write]));
  const paths = [...new Set(lines.map(({ path }) => path))];
  const unsigned = {
    version: "0.1.0" as const,
    timestamp: new Date(about.time).toISOString(),
    vcs: { type: "git" as const, revision: about.revision },
    tool: { name: "gennai" as const, version: about.toolVersion },
    files: paths.map((path) => ({
      path,
      conversations: lines.filter((each) => each.path === path).map(conversationOf),
    })),
    metadata: { "dev.gennai": { writes: [...writes.values()].map(writeJson), key_id: signer.keyId } },
  };
  const record = { ...unsigned, id: uuidOf(digestOf(unsigned)) };
  const signature = encodeSignature(signer.sign(noteMessage(digestOf(record))));
  const ours = { ...record.metadata["dev.gennai"], signature };
  return { ...record, metadata: { "dev.gennai": ours } };
}

/** One line of JSON. */
export function traceLine(record: TraceRecord): string {
  return canonicalJson(record);
}

/** Records of ours among the lines of a note; what others wrote there, or what is broken, is left out. */
export function traceRecords(note: string): readonly TraceRecord[] {
  return note.split("\n").flatMap((line) => traceSchema.safeParse(parsedJson(line)).data ?? []);
}

/** Whether a key that the verifier knows signed exactly this. */
export async function isTraceGenuine(record: TraceRecord, verifier: Verifier): Promise<boolean> {
  const { signature: encoded = "", ...ours } = record.metadata["dev.gennai"];
  const signature = decodeSignature(encoded);
  if (signature === undefined) return false;
  const message = noteMessage(digestOf({ ...record, metadata: { "dev.gennai": ours } }));
  return verifier.verify(ours.key_id, message, signature);
}

/** The writes that a record reports, by their records' ids. */
export function writesOf(record: TraceRecord): ReadonlyMap<string, RecordedWrite> {
  const models = new Map<string, string>();
  for (const { conversations } of record.files) {
    for (const { contributor, related } of conversations) {
      for (const { url } of related) models.set(url, contributor.model_id ?? "");
    }
  }
  return new Map(
    record.metadata["dev.gennai"].writes.map((each) => [
      each.record_id,
      {
        seq: each.seq,
        recordId: each.record_id,
        time: each.time,
        path: "",
        operation: each.operation,
        beforeSha256: undefined,
        afterSha256: undefined,
        blocks: [],
        sessionId: each.session_id ?? "",
        turnId: each.turn_id ?? "",
        call: each.call,
        model: models.get(urnOf(each.record_id)) ?? "",
        agent: each.agent,
        intent: each.intent,
        decision: each.decision,
        verification: each.verification,
        isUndo: each.is_undo,
        edited: [],
      },
    ]),
  );
}

export function urnOf(recordId: string): string {
  return `urn:uuid:${recordId}`;
}

/** The digest by which a range is known. */
export function rangeHash(lines: readonly string[]): string {
  return `sha256:${createHash("sha256").update(lines.join("\n"), "utf8").digest("hex")}`;
}

function conversationOf({ write: by, ranges }: TracedLines) {
  const { model, recordId } = by;
  return {
    contributor: {
      type: contributorType(by),
      ...(model === "" ? {} : { model_id: model.slice(0, 250) }),
    },
    ranges: ranges.map(({ start, end, text: block }) => ({
      start_line: start,
      end_line: end,
      content_hash: rangeHash(block.split("\n")),
    })),
    related: [
      { type: "record", url: urnOf(recordId) },
      ...(by.intent === undefined
        ? []
        : [{ type: "specification", url: `urn:gennai:intent:${encodeURIComponent(by.intent)}` }]),
    ],
  };
}

function contributorType({ model, agent, decision }: RecordedWrite): "ai" | "human" {
  if (decision.type === "person" && model === "" && agent === undefined) return "human";
  return "ai";
}

function writeJson(by: RecordedWrite): z.infer<typeof write> {
  return {
    seq: by.seq,
    record_id: by.recordId,
    time: by.time,
    operation: by.operation,
    ...(by.sessionId === "" ? {} : { session_id: by.sessionId }),
    ...(by.turnId === "" ? {} : { turn_id: by.turnId }),
    ...(by.call === undefined ? {} : { call: by.call }),
    ...(by.agent === undefined ? {} : { agent: by.agent }),
    ...(by.intent === undefined ? {} : { intent: by.intent }),
    decision: by.decision,
    verification: by.verification,
    is_undo: by.isUndo,
  };
}

/** UUID version 8, from a digest. */
function uuidOf(digest: string): string {
  const hex = digest.replace(/^sha256:/, "");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
