import { parsedJson } from "@gennai/protocol/json-value";
import type { WriteDecision } from "@gennai/protocol/model/governance/line-trace";
import * as z from "zod";
import type { RecordedWrite } from "./matching/recorded-write.ts";

const text = z.string().catch("");
const maybeText = z.string().optional().catch(undefined);
const list = <Item extends z.ZodType>(item: Item) => z.array(item).catch([]);

const changeSchema = z.object({
  path: z.string().min(1),
  operation: z.enum(["create", "update", "delete"]),
  before_sha256: maybeText,
  after_sha256: maybeText,
});

const confirmationSchema = z.object({ answer: text, by: text, scope: text });

const callSchema = z.object({
  call_id: text,
  tool: text,
  verdict: text,
  rule: text,
  plan_step: maybeText,
  verification: z.enum(["verified", "unverified", "failed"]).catch("unverified"),
  confirmation: confirmationSchema.optional().catch(undefined),
  also_asked: list(z.object({ rule: text, confirmation: confirmationSchema.optional().catch(undefined) })),
});

const hunkSchema = z.object({ decision: text, editedText: text });

const recordSchema = z.object({
  id: z.string(),
  timestamp: z.string(),
  files: list(
    z.object({
      path: z.string(),
      conversations: list(
        z.object({
          contributor: z.object({ model_id: text }).catch({ model_id: "" }),
          ranges: list(z.object({ start_line: z.number(), end_line: z.number(), content_hash: z.string() })),
        }),
      ),
    }),
  ),
  metadata: z.object({
    seq: z.number(),
    kind: z.string(),
    session_id: text,
    turn_id: text,
    calls: list(callSchema),
    changes: list(changeSchema),
    details: z
      .object({
        intent: maybeText,
        agent: maybeText,
        proposalId: maybeText,
        interrupted: z.boolean().optional().catch(undefined),
        review: z
          .object({ proposalId: text, hunks: list(hunkSchema) })
          .optional()
          .catch(undefined),
      })
      .catch({}),
  }),
});

type Record = z.infer<typeof recordSchema>;
type Call = z.infer<typeof callSchema>;

/** What earlier records say about a later one. */
interface Earlier {
  /** By proposal. */
  readonly reviews: Map<string, { readonly decision: WriteDecision; readonly edited: readonly string[] }>;
  /** Calls that were let run and have no end yet, by turn. */
  readonly begun: Map<string, Call[]>;
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
    const record = recordSchema.safeParse(parsedJson(line)).data;
    if (record === undefined) continue;
    const { review } = record.metadata.details;
    if (review !== undefined) earlier.reviews.set(review.proposalId, reviewed(review));
    for (const change of inOrder(record.metadata.changes)) writes.push(writeOf(record, change, earlier));
    noteCalls(record, earlier.begun);
  }
  return writes;
}

/** Deletions first: a file that one call deletes and creates elsewhere was moved. */
function inOrder<Change extends { readonly operation: string }>(changes: readonly Change[]): readonly Change[] {
  const goes = ({ operation }: Change): boolean => operation === "delete";
  return [...changes.filter(goes), ...changes.filter((change) => !goes(change))];
}

function noteCalls({ metadata }: Record, begun: Earlier["begun"]): void {
  const { kind, calls, session_id: session, turn_id: turn } = metadata;
  const name = JSON.stringify([session, turn]);
  const open = begun.get(name) ?? [];
  if (kind === "intent") begun.set(name, [...open, ...calls]);
  else {
    const ended = new Set(calls.map((call) => call.call_id));
    const left = open.filter((call) => !ended.has(call.call_id));
    if (left.length > 0) begun.set(name, left);
    else begun.delete(name);
  }
}

function reviewed({
  proposalId,
  hunks,
}: {
  readonly proposalId: string;
  readonly hunks: readonly z.infer<typeof hunkSchema>[];
}): { readonly decision: WriteDecision; readonly edited: readonly string[] } {
  const count = (decision: string): number => hunks.filter((hunk) => hunk.decision === decision).length;
  const edited = hunks.filter(({ decision }) => decision === "edited").map(({ editedText }) => editedText);
  const counts = { kept: count("keep"), refused: count("undo"), edited: count("edited") };
  return { decision: { type: "reviewed", proposalId, ...counts }, edited };
}

function writeOf(record: Record, change: z.infer<typeof changeSchema>, { reviews, begun }: Earlier): RecordedWrite {
  const { id: recordId, timestamp: time, files, metadata } = record;
  const { seq, kind, calls, details, session_id: sessionId, turn_id: turnId } = metadata;
  const conversations = files.find(({ path }) => path === change.path)?.conversations ?? [];
  // Of several calls in one record, the last one that was let run: those that write have a record each.
  const call = calls.at(-1) ?? cutOff(record, begun);
  const review = reviews.get(details.proposalId ?? "");
  return {
    seq,
    recordId,
    time,
    path: change.path,
    operation: change.operation,
    beforeSha256: change.before_sha256,
    afterSha256: change.after_sha256,
    blocks: conversations.flatMap(({ ranges }) =>
      ranges.map(({ start_line: startLine, end_line: endLine, content_hash: hash }) => ({
        startLine,
        endLine,
        sha256: hash.replace(/^sha256:/, ""),
      })),
    ),
    sessionId,
    turnId,
    call: call && { id: call.call_id, tool: call.tool },
    model: conversations[0]?.contributor.model_id ?? "",
    agent: details.agent,
    intent: details.intent,
    decision: review?.decision ?? decisionOf(call, details),
    verification: call?.verification ?? "unverified",
    isUndo: kind === "undo",
    edited: review?.edited ?? (details.proposalId === undefined ? [] : "unknown"),
  };
}

/** The call of a turn that ended in the middle of it: calls that write run one at a time, so there is one without an end. */
function cutOff({ metadata }: Record, begun: Earlier["begun"]): Call | undefined {
  const { details, session_id: session, turn_id: turn } = metadata;
  const open = details.interrupted === true ? (begun.get(JSON.stringify([session, turn])) ?? []) : [];
  return open.length === 1 ? open[0] : undefined;
}

function decisionOf(call: Call | undefined, { proposalId, interrupted }: Record["metadata"]["details"]): WriteDecision {
  if (call === undefined) {
    // A proposal whose review is not there was an agent's all the same, and so was a turn that was cut off.
    return { type: proposalId === undefined && interrupted !== true ? "person" : "untold" };
  }
  const { rule, plan_step: step } = call;
  // The last answer first; if nobody was asked about the result, the yes before the call allowed it.
  for (const asked of [call, ...call.also_asked.toReversed()]) {
    if (asked.confirmation?.answer !== "yes") continue;
    return { type: "approved", rule: asked.rule, by: asked.confirmation.by, scope: asked.confirmation.scope };
  }
  return step === undefined ? { type: "allowed", rule } : { type: "planned", step, rule };
}
