import { readFileSync } from "node:fs";
import { recordLines } from "@gennai/governance/ledger/laid-out-records";
import { partsOf, withoutContent } from "@gennai/governance/ledger/record-content";
import type { Redactor } from "@gennai/governance/redaction";
import { hasCode } from "@gennai/machine/system-error";
import { type LedgerLocation, ledgerPathOf } from "../ledger/file/ledger-file-name.ts";
import { type BundlePart, usualBundleParts } from "./bundle-parts.ts";
import { readLedgerRecords } from "./ledger-records.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Formats of single lines: Agent Trace 0.1.0, and the names that came before it. */
export type LedgerLineFormat = "agent-trace" | "seed001";

/**
 * The records of a workspace as lines of JSON, without line breaks. They are redacted once more, by the present rules: a changed
 * record has `redacted` under `metadata`, and its signature no longer matches. If `records` are not chosen, each line has only
 * what the chain needs, and `withheld`; lines that are not our records are then left out, because their parts are unknown.
 */
export async function* exportLedgerLines(
  location: LedgerLocation,
  options: {
    readonly format: LedgerLineFormat;
    readonly redactor: Redactor;
    readonly parts?: ReadonlySet<BundlePart>;
  },
): AsyncGenerator<string, void, undefined> {
  const { parts = new Set(usualBundleParts) } = options;
  for (const line of ledgerLines(location)) {
    const record = parts.has("records") ? recordOf(line) : chainOf(line);
    if (record === undefined) continue;
    const masked = await redacted(record, options.redactor);
    const exported = masked.count === 0 ? record : marked(masked.value);
    yield JSON.stringify(options.format === "seed001" ? seed001Record(exported) : exported);
  }
}

/** Lines from the store; for a workspace that the store does not know, from the ledger's file. */
export function* ledgerLines(location: LedgerLocation): Generator<string, void, undefined> {
  let stored = false;
  for (const line of storedLines(location)) {
    stored = true;
    yield line;
  }
  if (stored) return;
  try {
    yield* recordLines(readFileSync(ledgerPathOf(location), "utf8"));
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}

/** The lines of all records that the store has of a workspace. */
function* storedLines(location: LedgerLocation): Generator<string, void, undefined> {
  let after = 0;
  for (;;) {
    const page = readLedgerRecords(location.stateDir, location.workspaceRoot, after, 500);
    if (page.length === 0) break;
    for (const { json } of page) yield json;
    after = page.at(-1)?.seq ?? after;
  }
}

/** A value with every text redacted, including the names of members, and the number of changed texts. */
export async function redacted(
  value: unknown,
  redactor: Redactor,
): Promise<{ readonly value: unknown; readonly count: number }> {
  let count = 0;
  const mask = async (text: string): Promise<string> => {
    // Most texts in records are digests, which no rule masks.
    if (digest.test(text)) return text;
    const masked = await redactor.redact(text);
    if (masked !== text) count += 1;
    return masked;
  };
  const copy = async (part: unknown): Promise<unknown> => {
    if (typeof part === "string") return mask(part);
    if (Array.isArray(part)) return Promise.all(part.map(copy));
    if (!isJsonObject(part)) return part;
    const members = Object.entries(part).map(async ([name, member]) => [await mask(name), await copy(member)] as const);
    return Object.fromEntries(await Promise.all(members));
  };
  return { value: await copy(value), count };
}

const digest = /^(?:[0-9a-f]{40}|(?:sha256:)?[0-9a-f]{64})$/;

/** The line, or, if a present rule finds a secret in its content, the line without content. */
export async function withheldIfSecret(
  line: string,
  redactor: Redactor,
): Promise<{ readonly line: string; readonly withheld: boolean }> {
  const record = recordOf(line) ?? {};
  const metadata = isJsonObject(record["metadata"]) ? record["metadata"] : {};
  // The fixed part is made by Gennai: hashes, times, a signature. It could not be withheld anyway.
  const { count } = await redacted(partsOf(record, metadata).content, redactor);
  return count === 0 ? { line, withheld: false } : { line: withoutContent(line), withheld: true };
}

function recordOf(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    // Old ledgers have truncated lines: `verify` reports them.
    return undefined;
  }
}

/** A record without its content; a purge record unchanged, because its content makes the gaps in the chain valid. */
function chainOf(line: string): JsonObject | undefined {
  const record = recordOf(line);
  const metadata = isJsonObject(record?.["metadata"]) ? record["metadata"] : undefined;
  if (record === undefined || typeof metadata?.["hash"] !== "string") return undefined;
  if (metadata["kind"] === "purge" || metadata["purged"] === true) return record;
  const { metadata: kept, ...rest } = recordOf(withoutContent(line)) ?? {};
  const { purged: _purged, ...fixed } = isJsonObject(kept) ? kept : {};
  return { ...rest, metadata: { ...fixed, withheld: true } };
}

function marked(record: unknown): JsonObject {
  if (!isJsonObject(record)) return {};
  return { ...record, metadata: { ...(isJsonObject(record["metadata"]) ? record["metadata"] : {}), redacted: true } };
}

/**
 * Uses `vcs.revision_id` and `relative_path` in place of `vcs.revision` and `path`, and keeps only `value` of related entries.
 */
function seed001Record(record: JsonObject): JsonObject {
  const { vcs, files } = record;
  return {
    ...record,
    ...(isJsonObject(vcs) ? { vcs: renamed(vcs, "revision", "revision_id") } : {}),
    ...(Array.isArray(files)
      ? { files: files.map((file: unknown) => (isJsonObject(file) ? seed001File(file) : file)) }
      : {}),
  };
}

function seed001File(file: JsonObject): JsonObject {
  const { conversations } = file;
  const named = renamed(file, "path", "relative_path");
  if (!Array.isArray(conversations)) return named;
  return {
    ...named,
    conversations: conversations.map((each: unknown) => {
      if (!isJsonObject(each) || !Array.isArray(each["related"])) return each;
      return { ...each, related: each["related"].map(withoutUrl) };
    }),
  };
}

function withoutUrl(related: unknown): unknown {
  if (!isJsonObject(related) || related["value"] === undefined) return related;
  return Object.fromEntries(Object.entries(related).filter(([name]) => name !== "url"));
}

function renamed(object: JsonObject, from: string, to: string): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name === from ? to : name, value]));
}

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
