import { listOf, parsedJson, recordOf, textOf } from "@gennai/protocol/json-value";
import { personsOf, type ReadCall, type ReadChange, type ReadRecord, recordIn } from "@gennai/protocol/read-record";
import { decisionWords, namesOf } from "./record-words.ts";

/** A record of the ledger as it is shown. */
export interface TimelineRecord extends Omit<ReadRecord, "calls"> {
  /** How an outcome ended, as far as the record says: not every outcome is a success. */
  readonly end: "done" | "refused" | "failed" | "interrupted";
  readonly time: Date | undefined;
  readonly calls: readonly TimelineCall[];
  readonly paths: readonly string[];
  /** What people decided, in words; empty if that is not known here. */
  readonly decided: string;
  /** The model that contributed; empty: a person did, or the record names none. */
  readonly modelId: string;
  /** Id of the intent that was active or selected; empty: none. */
  readonly intent: string;
  /** The record as written in the ledger. */
  readonly json: string;
}

export interface TimelineCall extends Omit<ReadCall, "confirmation"> {
  /** Files that the record names. */
  readonly files: readonly string[];
  /** The redacted input in one line. */
  readonly input: string;
  /** Who answered a question about it, and how; empty if nobody was asked. */
  readonly confirmation: string;
}

/** Reads one line; a field that does not fit stays empty, and the line itself is kept. */
export function timelineRecord(seq: number, json: string): TimelineRecord {
  const record = recordIn(parsedJson(json));
  const { timestamp, kind, details, changes, files } = record;
  const time = new Date(timestamp);
  const calls = record.calls.map(callOf);
  return {
    ...record,
    seq,
    json,
    kind: kind || "unknown",
    end: details["interrupted"] === true ? "interrupted" : endOf(calls),
    time: Number.isNaN(time.getTime()) ? undefined : time,
    calls,
    paths: [...new Set([...changes, ...files].map(({ path }) => path))].filter((path) => path !== ""),
    decided: decisionWords(details),
    modelId: files.find(({ modelId }) => modelId !== "")?.modelId ?? "",
    intent: textOf(details["intent"]),
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
): ReadChange | undefined {
  const newest = records.findLast(({ changes }) => changes.some((change) => change.path === path));
  return newest === undefined || newest.seq <= seq ? undefined : newest.changes.find((each) => each.path === path);
}

/** Files that a record is about: changed, or named by a call. */
export function filesOf({ paths, calls }: TimelineRecord): readonly string[] {
  return [...new Set([...paths, ...calls.flatMap(({ files }) => files)])];
}

function callOf(call: ReadCall): TimelineCall {
  const input = recordOf(parsedJson(call.input));
  const { answer = "", scope = "", first = "" } = call.confirmation ?? {};
  const by = personsOf(call.confirmation);
  const before = first === "" ? "" : `after ${first} agreed`;
  const answered = [answer, scope, by === "" ? "" : `by ${by}`, before].filter((word) => word !== "");
  return { ...call, files: filesIn(input), input: inOneLine(input), confirmation: answered.join(" ") };
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
