import { canonicalJson } from "@gennai/protocol/canonical-json";
import { digestOf, sha256Hex } from "@gennai/protocol/digest";
import type { FileChange } from "../tool.ts";
import type { LedgerCall, LedgerEntry } from "./ledger-entry.ts";
import { encodeSignature, handOverMessage, type NextKey, recordMessage, type Signer } from "./ledger-signature.ts";
import { contentDigest, partsOf } from "./record-content.ts";
import { type JsonValue, recordable } from "./recordable.ts";

/**
 * One line of the ledger: a valid Agent Trace 0.1.0 record (https://agent-trace.dev) with our data in `metadata`. `hash` is the
 * SHA-256 of the canonical JSON of the record's fixed part: without `hash`, `signature` and `salt`, and without the content
 * (`files`, `session_id`, `turn_id`, `calls`, `changes`, `details`), which is represented by its salted digest
 * `content_digest`.
 */
export interface LedgerRecord {
  readonly version: "0.1.0";
  /** UUID (version 8), made from the place in the chain. */
  readonly id: string;
  /** RFC 3339, UTC. */
  readonly timestamp: string;
  readonly vcs?: { readonly type: "git"; readonly revision: string };
  readonly tool: { readonly name: "gennai"; readonly version: string };
  readonly files: readonly TracedFile[];
  readonly metadata: LedgerMetadata;
}

export interface TracedFile {
  readonly path: string;
  readonly conversations: readonly {
    readonly contributor: { readonly type: "ai" | "human" | "mixed"; readonly model_id?: string };
    readonly ranges: readonly {
      readonly start_line: number;
      readonly end_line: number;
      /** `sha256:` and the digest of the block's text. */
      readonly content_hash: string;
    }[];
    readonly related: readonly RelatedIntent[];
  }[];
}

/** The intent that was worked under, as Agent Trace names what is related (`url`) and as our first format did (`value`). */
export interface RelatedIntent {
  readonly type: "specification";
  /** `urn:gennai:intent:` and the id, percent-encoded. */
  readonly url: string;
  /** The id, e.g. `INT-001`. */
  readonly value: string;
}

export interface LedgerMetadata {
  /** Gapless per ledger, from 1. */
  readonly seq: number;
  /** Hash of the record before; of the first record: the digest of `genesis`. */
  readonly previous_hash: string;
  readonly genesis?: LedgerGenesis;
  readonly kind: LedgerEntry["kind"];
  readonly hand_over?: LedgerHandOver;
  readonly session_id: string;
  readonly turn_id: string;
  readonly calls: JsonValue;
  readonly changes: JsonValue;
  readonly details: JsonValue;
  readonly key_id: string;
  readonly content_digest: string;
  /** 32 hex digits; stored and purged with the content. */
  readonly salt: string;
  readonly hash: string;
  /** Ed25519 over `recordMessage(hash)`, base64. */
  readonly signature: string;
}

/** Data of the first record: which ledger this is, and what was in the file before it. */
export interface LedgerGenesis {
  /** SHA-256 of the workspace's root path, lower-case hex. */
  readonly workspace: string;
  readonly preamble_bytes: number;
  readonly preamble_sha256: string;
}

/** The key that signs from the next record on. Part of what is chained: a purge leaves it. */
export interface LedgerHandOver {
  readonly key_id: string;
  /** SPKI, DER, base64. */
  readonly public_key: string;
  /** Signature of the new key over `handOverMessage`, base64. */
  readonly signature: string;
}

/** Position of a record: after the one with this hash, or first. */
export type RecordPosition =
  | { readonly seq: number; readonly previousHash: string }
  | { readonly seq: 1; readonly genesis: LedgerGenesis };

export interface SealedRecord {
  readonly seq: number;
  readonly hash: string;
  /** Canonical JSON without the line break. */
  readonly line: string;
}

export function workspaceIdOf(workspaceRoot: string): string {
  return sha256Hex(workspaceRoot);
}

/**
 * Chains and signs an entry. `toolVersion` is the version of Gennai that acted, `salt` 32 random hex digits, `next` the key
 * that the chain is handed over to by this record.
 */
export function sealRecord(
  entry: LedgerEntry,
  place: RecordPosition,
  signer: Signer,
  options: { readonly salt: string; readonly toolVersion?: string; readonly next?: NextKey },
): SealedRecord {
  const previousHash = "genesis" in place ? digestOf(place.genesis) : place.previousHash;
  const { salt, next, toolVersion = "unknown" } = options;
  // Members in canonical order, so that nothing has to be sorted to be hashed and written.
  const metadata = {
    calls: recordable(entry.calls.map(recordedCall)),
    changes: recordable(entry.files.map(recordedChange)),
    content_digest: "",
    details: recordable(entry.details),
    ...("genesis" in place ? { genesis: place.genesis } : {}),
    ...(next === undefined ? {} : { hand_over: handOver(next, signer.keyId, { seq: place.seq, previousHash }) }),
    hash: "",
    key_id: signer.keyId,
    kind: entry.kind,
    previous_hash: previousHash,
    salt,
    seq: place.seq,
    session_id: entry.sessionId.toWellFormed(),
    signature: "",
    turn_id: entry.turnId.toWellFormed(),
  };
  const record = {
    files: entry.files.map((file) => tracedFile(file, entry)),
    id: uuidOf(sha256Hex(`${place.seq}:${previousHash}`)),
    metadata,
    timestamp: new Date(entry.time).toISOString(),
    tool: { name: "gennai" as const, version: toolVersion },
    ...(entry.revision === "" ? {} : { vcs: { revision: entry.revision.toWellFormed(), type: "git" as const } }),
    version: "0.1.0" as const,
  };
  metadata.content_digest = contentDigest(partsOf(record, metadata).content, salt);
  metadata.hash = digestOf(partsOf(record, metadata).fixed);
  metadata.signature = encodeSignature(signer.sign(recordMessage(metadata.hash)));
  const sealed: LedgerRecord = record;
  return { seq: place.seq, hash: metadata.hash, line: canonicalJson(sealed) };
}

function handOver(
  next: NextKey,
  from: string,
  place: { readonly seq: number; readonly previousHash: string },
): LedgerHandOver {
  const { keyId: to, publicKey } = next;
  const signature = encodeSignature(next.sign(handOverMessage({ ...place, from, to, publicKey })));
  return { key_id: to, public_key: publicKey, signature };
}

/** Maximum blocks of one file in a record; beyond it, only their number. */
const maxBlocks = 1_000;

function tracedFile(file: FileChange, entry: LedgerEntry): TracedFile {
  const { details } = entry;
  const ranges = file.blocks.slice(0, maxBlocks).map((block) => ({
    content_hash: `sha256:${block.sha256}`,
    end_line: block.endLine,
    start_line: block.startLine,
  }));
  return {
    conversations: [{ contributor: contributorOf(entry), ranges, related: relatedIntents(details["intent"]) }],
    path: file.path.toWellFormed(),
  };
}

function contributorOf({ modelId, details }: LedgerEntry): TracedFile["conversations"][number]["contributor"] {
  if (modelId !== "") return { model_id: modelId.slice(0, 250).toWellFormed(), type: "ai" };
  // For an interrupted turn, earlier records name the model.
  if (details["interrupted"] === true) return { type: "ai" };
  // Proposed by a model, and kept by a person, who may have changed it.
  return { type: typeof details["proposalId"] === "string" ? "mixed" : "human" };
}

function relatedIntents(intent: unknown): readonly RelatedIntent[] {
  if (typeof intent !== "string" || intent === "") return [];
  const value = intent.toWellFormed();
  return [{ type: "specification", url: `urn:gennai:intent:${encodeURIComponent(value)}`, value }];
}

function recordedChange(file: FileChange): Record<string, unknown> {
  return {
    path: file.path,
    operation: file.operation,
    before_sha256: file.beforeSha256,
    after_sha256: file.afterSha256,
    blocks: file.blocks.length,
  };
}

function recordedCall(call: LedgerCall): Record<string, unknown> {
  return {
    call_id: call.callId,
    tool: call.tool,
    input: call.input,
    verdict: call.verdict,
    rule: call.rule,
    risk: call.risk,
    plan_step: call.planStep,
    started: call.started,
    stopped: call.stopped,
    exit_code: call.exitCode,
    failure_class: call.failureClass,
    verification: call.verification,
    reaches: call.reaches,
    refs: call.refs,
    connections: call.connections,
    confirmation: call.confirmation,
    also_asked: call.alsoAsked,
  };
}

function uuidOf(digest: string): string {
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}
