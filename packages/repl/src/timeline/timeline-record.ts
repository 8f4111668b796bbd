import { parsedJson, recordOf } from "@gennai/protocol/json-value";
import type { FileVersion } from "./file-version.ts";
import { decisionWords, namesOf } from "./record-words.ts";

/** A record of the ledger, as far as it can be read here. Fields that it lacks are empty. */
export interface TimelineRecord {
  readonly seq: number;
  readonly kind: string;
  /** How an outcome ended, as far as the record says: not every outcome is a success. */
  readonly end: "done" | "refused" | "failed" | "interrupted";
  readonly time: Date | undefined;
  readonly sessionId: string;
  readonly turnId: string;
  readonly calls: readonly TimelineCall[];
  readonly paths: readonly string[];
  /** What it did to files whose contents it names. */
  readonly versions: readonly FileVersion[];
  /** What people decided, in words; empty if that is not known here. */
  readonly decided: string;
  /** The model that contributed; empty: a person did, or the record names none. */
  readonly modelId: string;
  /** Id of the intent that was active or selected; empty: none. */
  readonly intent: string;
  readonly previousHash: string;
  readonly hash: string;
  /** Its content was purged; its place in the chain stays. */
  readonly purged: boolean;
  /** The record as written in the ledger. */
  readonly json: string;
}

export interface TimelineCall {
  readonly callId: string;
  readonly tool: string;
  /** Files that the record names. */
  readonly files: readonly string[];
  /** The redacted input in one line. */
  readonly input: string;
  readonly verdict: string;
  readonly rule: string;
  readonly risk: string;
  readonly failureClass: string;
  readonly verification: string;
  readonly exitCode: number | undefined;
  /** Who answered a question about it, and how; empty if nobody was asked. */
  readonly confirmation: string;
}

/** Reads one line; a field that does not fit stays empty, and the line itself is kept. */
export function timelineRecord(seq: number, json: string): TimelineRecord {
  const record = recordOf(parsedJson(json));
  const metadata = recordOf(record["metadata"]);
  const time = new Date(textOf(record["timestamp"]));
  const files = listOf(record["files"]).map(recordOf);
  const calls = listOf(metadata["calls"]).map(callOf);
  return {
    seq,
    json,
    kind: textOf(metadata["kind"]) || "unknown",
    end: recordOf(metadata["details"])["interrupted"] === true ? "interrupted" : endOf(calls),
    time: Number.isNaN(time.getTime()) ? undefined : time,
    sessionId: textOf(metadata["session_id"]),
    turnId: textOf(metadata["turn_id"]),
    calls,
    paths: [
      ...new Set([...listOf(metadata["changes"]).map(recordOf), ...files].map(({ path }) => textOf(path))),
    ].filter((path) => path !== ""),
    versions: listOf(metadata["changes"]).map(versionOf),
    decided: decisionWords(recordOf(metadata["details"])),
    modelId: files.map(modelOf).find((model) => model !== "") ?? "",
    intent: textOf(recordOf(metadata["details"])["intent"]),
    previousHash: textOf(metadata["previous_hash"]),
    hash: textOf(metadata["hash"]),
    purged: metadata["purged"] === true,
  };
}

function endOf(calls: readonly TimelineCall[]): TimelineRecord["end"] {
  if (calls.some(({ failureClass }) => failureClass === "permission_denied")) return "refused";
  return calls.some(({ failureClass }) => failureClass !== "") ? "failed" : "done";
}

/** Sequence numbers of records that do not name the hash of the record before, or that follow a gap. */
export function brokenLinks(records: readonly TimelineRecord[]): ReadonlySet<number> {
  const broken = new Set<number>();
  for (const [index, record] of records.entries()) {
    const before = records[index - 1];
    if (before === undefined) continue;
    if (record.seq !== before.seq + 1 || record.previousHash !== before.hash || record.hash === "")
      broken.add(record.seq);
  }
  return broken;
}

/** Without the records of what calls were about to do, once others tell what they did. */
export function withoutBegun(records: readonly TimelineRecord[]): readonly TimelineRecord[] {
  const ids = ({ calls }: TimelineRecord) => calls.map(({ callId }) => callId);
  const ended = new Set(records.filter(({ kind }) => kind !== "intent").flatMap(ids));
  return records.filter((record) => record.kind !== "intent" || ids(record).some((id) => id === "" || !ended.has(id)));
}

export interface TimelineFilter {
  /** Empty: every kind. */
  readonly kind: string;
  /** Only this session; empty: all. */
  readonly sessionId: string;
  /** Only what names this file; empty: all. */
  readonly path: string;
  /** Words that the record must contain, in any case. */
  readonly text: string;
}

export function passes(record: TimelineRecord, filter: TimelineFilter): boolean {
  if (filter.kind !== "" && record.kind !== filter.kind) return false;
  if (filter.sessionId !== "" && record.sessionId !== filter.sessionId) return false;
  if (filter.path !== "" && !filesOf(record).includes(filter.path)) return false;
  const words = filter.text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return true;
  const json = record.json.toLowerCase();
  return words.every((word) => json.includes(word));
}

/** The newest version of a file in records newer than this one; undefined if there is none. */
export function newerVersion(
  records: readonly TimelineRecord[],
  { seq }: Pick<TimelineRecord, "seq">,
  path: string,
): FileVersion | undefined {
  const newest = records.findLast(({ versions }) => versions.some((version) => version.path === path));
  return newest === undefined || newest.seq <= seq ? undefined : newest.versions.find((each) => each.path === path);
}

function versionOf(value: unknown): FileVersion {
  const change = recordOf(value);
  return {
    path: textOf(change["path"]),
    operation: textOf(change["operation"]),
    beforeSha256: textOf(change["before_sha256"]),
    afterSha256: textOf(change["after_sha256"]),
  };
}

/** Files that a record is about: changed, or named by a call. */
export function filesOf({ paths, calls }: TimelineRecord): readonly string[] {
  return [...new Set([...paths, ...calls.flatMap(({ files }) => files)])];
}

function callOf(value: unknown): TimelineCall {
  const call = recordOf(value);
  const exitCode = call["exit_code"];
  const { answer, by, scope } = recordOf(call["confirmation"]);
  return {
    callId: textOf(call["call_id"]),
    tool: textOf(call["tool"]),
    files: filesIn(recordedInput(call["input"])),
    input: inOneLine(recordedInput(call["input"])),
    verdict: textOf(call["verdict"]),
    rule: textOf(call["rule"]),
    risk: textOf(call["risk"]),
    failureClass: textOf(call["failure_class"]),
    verification: textOf(call["verification"]),
    exitCode: typeof exitCode === "number" ? exitCode : undefined,
    confirmation: [textOf(answer), textOf(scope), textOf(by) === "" ? "" : `by ${textOf(by)}`]
      .filter((word) => word !== "")
      .join(" "),
  };
}

/** Records have the input as canonical JSON; older ones, and those of others, as an object. */
function recordedInput(input: unknown): Readonly<Record<string, unknown>> {
  return recordOf(typeof input === "string" ? parsedJson(input) : input);
}

function filesIn(given: Readonly<Record<string, unknown>>): readonly string[] {
  const proposed = listOf(given["changes"]).map((change) => textOf(recordOf(change)["path"]));
  return [textOf(given["file_path"]) || textOf(given["path"]), ...proposed].filter((path) => path !== "");
}

/** The command or the files if there are any, because they say most. */
function inOneLine(given: Readonly<Record<string, unknown>>): string {
  const first = [
    textOf(given["command"]),
    namesOf(filesIn(given)),
    textOf(given["pattern"]),
    textOf(given["query"]),
  ].find((text) => text !== "");
  return first ?? (Object.keys(given).length === 0 ? "" : JSON.stringify(given));
}

function modelOf(file: Readonly<Record<string, unknown>>): string {
  return textOf(recordOf(recordOf(listOf(file["conversations"])[0])["contributor"])["model_id"]);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
