import { isRecord, listOf, parsedJson, recordOf, textOf } from "./json-value.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A record of a ledger, as far as it can be read: what it lacks, was purged or does not fit is empty. */
export interface ReadRecord {
  readonly id: string;
  /** RFC 3339, UTC. */
  readonly timestamp: string;
  /** From 1; 0 if it has none. */
  readonly seq: number;
  readonly kind: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly files: readonly ReadFile[];
  readonly calls: readonly ReadCall[];
  readonly changes: readonly ReadChange[];
  readonly details: Fields;
  readonly previousHash: string;
  readonly hash: string;
  /** Its content was purged; its place in the chain stays. */
  readonly purged: boolean;
}

/** A file, and what of it is said to be whose. */
export interface ReadFile {
  readonly path: string;
  /** The model that contributed; empty: a person did, or none is named. */
  readonly modelId: string;
  readonly blocks: readonly { readonly startLine: number; readonly endLine: number; readonly sha256: string }[];
}

export interface ReadCall {
  readonly callId: string;
  readonly tool: string;
  /** Canonical JSON, redacted; older records, and those of others, have it as an object. */
  readonly input: string;
  readonly verdict: string;
  readonly rule: string;
  readonly risk: string;
  readonly planStep: string;
  readonly exitCode: number | undefined;
  readonly failureClass: string;
  readonly verification: string;
  /** Undefined if nobody was asked. */
  readonly confirmation: ReadAnswer | undefined;
  /** Other questions about it, in order. */
  readonly alsoAsked: readonly Pick<ReadCall, "rule" | "verdict" | "confirmation">[];
}

export interface ReadAnswer {
  readonly answer: string;
  readonly by: string;
  readonly scope: string;
  readonly pattern: string;
  /** The other person who agreed; empty where one was enough. */
  readonly second: string;
  /** Who had agreed before the second person did not; empty where one was enough. */
  readonly first: string;
  readonly rememberedFrom: string;
}

export interface ReadChange {
  readonly path: string;
  readonly operation: string;
  /** SHA-256 of its bytes, lower-case hex; empty: there was no file, or the record does not say. */
  readonly beforeSha256: string;
  readonly afterSha256: string;
}

/** What a line of a ledger says; undefined if it is no JSON object. Nothing is verified. */
export function readRecord(line: string): ReadRecord | undefined {
  const record = parsedJson(line);
  return isRecord(record) ? recordIn(record) : undefined;
}

/** The same for a line that was read, whatever it says. */
export function recordIn(value: unknown): ReadRecord {
  const record = recordOf(value);
  const metadata = recordOf(record["metadata"]);
  return {
    id: textOf(record["id"]),
    timestamp: textOf(record["timestamp"]),
    seq: numberOf(metadata["seq"]) ?? 0,
    kind: textOf(metadata["kind"]),
    sessionId: textOf(metadata["session_id"]),
    turnId: textOf(metadata["turn_id"]),
    files: fieldsIn(record["files"]).map(fileOf),
    calls: fieldsIn(metadata["calls"]).map(callOf),
    changes: fieldsIn(metadata["changes"]).map(changeOf),
    details: recordOf(metadata["details"]),
    previousHash: textOf(metadata["previous_hash"]),
    hash: textOf(metadata["hash"]),
    purged: metadata["purged"] === true,
  };
}

function fileOf(file: Fields): ReadFile {
  const conversations = fieldsIn(file["conversations"]);
  return {
    path: textOf(file["path"]) || textOf(file["relative_path"]),
    modelId: textOf(recordOf(conversations[0]?.["contributor"])["model_id"]),
    blocks: conversations
      .flatMap(({ ranges }) => fieldsIn(ranges))
      .map(({ start_line: start, end_line: end, content_hash: hash }) => ({
        startLine: numberOf(start) ?? 0,
        endLine: numberOf(end) ?? 0,
        sha256: textOf(hash).replace(/^sha256:/, ""),
      })),
  };
}

function callOf(call: Fields): ReadCall {
  const { input } = call;
  return {
    ...askedOf(call),
    callId: textOf(call["call_id"]),
    tool: textOf(call["tool"]),
    input: typeof input === "string" ? input : (JSON.stringify(input) ?? ""),
    risk: textOf(call["risk"]),
    planStep: textOf(call["plan_step"]),
    exitCode: numberOf(call["exit_code"]),
    failureClass: textOf(call["failure_class"]),
    verification: textOf(call["verification"]),
    alsoAsked: fieldsIn(call["also_asked"]).map(askedOf),
  };
}

function askedOf({ rule, verdict, confirmation }: Fields): ReadCall["alsoAsked"][number] {
  return { rule: textOf(rule), verdict: textOf(verdict), confirmation: answerOf(confirmation) };
}

/** Who gave an answer, both where two did; empty: nobody did. */
export function personsOf(answer: ReadAnswer | undefined): string {
  return [answer?.by, answer?.second].filter((person) => person).join(" and ");
}

function answerOf(value: unknown): ReadAnswer | undefined {
  if (!isRecord(value)) return undefined;
  const { answer, by, scope, pattern, second, first, remembered_from: from } = value;
  return {
    answer: textOf(answer),
    by: textOf(by),
    scope: textOf(scope),
    pattern: textOf(pattern),
    second: isRecord(second) ? textOf(second["by"]) : "",
    first: isRecord(first) ? textOf(first["by"]) : "",
    rememberedFrom: textOf(from),
  };
}

function changeOf({ path, operation, before_sha256: before, after_sha256: after }: Fields): ReadChange {
  return {
    path: textOf(path),
    operation: textOf(operation),
    beforeSha256: textOf(before),
    afterSha256: textOf(after),
  };
}

function fieldsIn(value: unknown): readonly Fields[] {
  return listOf(value).map(recordOf);
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
