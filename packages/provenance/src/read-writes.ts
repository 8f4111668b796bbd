import { isRecord, listOf, recordOf, textOf } from "@gennai/protocol/json-value";
import type { WriteDecision } from "@gennai/protocol/model/governance/line-trace";
import { personsOf, type ReadCall, type ReadChange, type ReadRecord, readRecord } from "@gennai/protocol/read-record";
import type { RecordedWrite } from "./matching/recorded-write.ts";

type Change = ReadChange & Pick<RecordedWrite, "operation">;

const verifications = ["verified", "unverified", "failed"] as const;

/** What earlier records say about a later one. */
interface Earlier {
  /** By proposal. */
  readonly reviews: Map<string, { readonly decision: WriteDecision; readonly edited: readonly string[] }>;
  /** Calls that were let run and have no end yet, by turn. */
  readonly begun: Map<string, readonly ReadCall[]>;
}

/**
 * The writes in records, in their order. Skips purged records, and those of other programs. Does not check whether records are
 * genuine.
 *
 * @param lines of a ledger, one record each
 */
export function readWrites(lines: Iterable<string>): readonly RecordedWrite[] {
  const writes: RecordedWrite[] = [];
  const earlier: Earlier = { reviews: new Map(), begun: new Map() };
  for (const line of lines) {
    const record = readRecord(line);
    if (record === undefined || record.timestamp === "" || record.kind === "") continue;
    const { review } = record.details;
    if (isRecord(review)) earlier.reviews.set(textOf(review["proposalId"]), reviewed(review));
    for (const change of inOrder(record.changes.filter(isChange))) writes.push(writeOf(record, change, earlier));
    noteCalls(record, earlier.begun);
  }
  return writes;
}

function isChange(change: ReadChange): change is Change {
  return change.path !== "" && ["create", "update", "delete"].includes(change.operation);
}

/** Deletions first: a file that one call deletes and creates elsewhere was moved. */
function inOrder(changes: readonly Change[]): readonly Change[] {
  const goes = ({ operation }: Change): boolean => operation === "delete";
  return [...changes.filter(goes), ...changes.filter((change) => !goes(change))];
}

function noteCalls({ kind, calls, sessionId, turnId }: ReadRecord, begun: Earlier["begun"]): void {
  const name = JSON.stringify([sessionId, turnId]);
  const open = begun.get(name) ?? [];
  const named = new Set(calls.map((call) => call.callId));
  const left = open.filter((call) => !named.has(call.callId));
  // One call has several: before it ran, and before what it left was kept.
  if (kind === "intent") begun.set(name, [...left, ...calls]);
  else {
    if (left.length > 0) begun.set(name, left);
    else begun.delete(name);
  }
}

function reviewed(review: Readonly<Record<string, unknown>>): {
  readonly decision: WriteDecision;
  readonly edited: readonly string[];
} {
  const proposalId = textOf(review["proposalId"]);
  const hunks = listOf(review["hunks"]).map(recordOf);
  const count = (decision: string): number => hunks.filter((hunk) => hunk["decision"] === decision).length;
  const edited = hunks.filter((hunk) => hunk["decision"] === "edited").map((hunk) => textOf(hunk["editedText"]));
  const counts = { kept: count("keep"), refused: count("undo"), edited: count("edited") };
  return { decision: { type: "reviewed", proposalId, ...counts }, edited };
}

function writeOf(record: ReadRecord, change: Change, { reviews, begun }: Earlier): RecordedWrite {
  const { id: recordId, timestamp: time, files, seq, kind, calls, details, sessionId, turnId } = record;
  const file = files.find(({ path }) => path === change.path);
  const proposalId = optional(details["proposalId"]);
  // Of several calls in one record, the last one that was let run: those that write have a record each.
  const call = calls.at(-1) ?? cutOff(record, begun);
  const review = reviews.get(proposalId ?? "");
  return {
    seq,
    recordId,
    time,
    path: change.path,
    operation: change.operation,
    beforeSha256: change.beforeSha256 || undefined,
    afterSha256: change.afterSha256 || undefined,
    blocks: file?.blocks ?? [],
    sessionId,
    turnId,
    call: call && { id: call.callId, tool: call.tool },
    model: file?.modelId ?? "",
    agent: optional(details["agent"]),
    intent: optional(details["intent"]),
    decision: review?.decision ?? decisionOf(call, { isProposal: proposalId !== undefined, details }),
    verification: verifications.find((one) => one === call?.verification) ?? "unverified",
    isUndo: kind === "undo",
    edited: review?.edited ?? (proposalId === undefined ? [] : "unknown"),
  };
}

/** The call of a turn that ended in the middle of it: calls that write run one at a time, so there is one without an end. */
function cutOff({ details, sessionId, turnId }: ReadRecord, begun: Earlier["begun"]): ReadCall | undefined {
  const open = details["interrupted"] === true ? (begun.get(JSON.stringify([sessionId, turnId])) ?? []) : [];
  return open.length === 1 ? open[0] : undefined;
}

function decisionOf(
  call: ReadCall | undefined,
  of: { readonly isProposal: boolean; readonly details: ReadRecord["details"] },
): WriteDecision {
  if (call === undefined) {
    // A proposal whose review is not there was an agent's all the same, and so was a turn that was cut off.
    return { type: of.isProposal || of.details["interrupted"] === true ? "untold" : "person" };
  }
  const { rule, planStep: step } = call;
  // The last answer first; if nobody was asked about the result, the yes before the call allowed it.
  for (const asked of [call, ...call.alsoAsked.toReversed()]) {
    if (asked.confirmation?.answer !== "yes") continue;
    return { type: "approved", rule: asked.rule, by: personsOf(asked.confirmation), scope: asked.confirmation.scope };
  }
  return step === "" ? { type: "allowed", rule } : { type: "planned", step, rule };
}

function optional(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
