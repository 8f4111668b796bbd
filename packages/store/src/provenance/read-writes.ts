import type { WriteDecision } from "@gennai/protocol/model/line-trace";
import * as z from "zod";
import type { RecordedWrite } from "./recorded-write.ts";

const text = z.string().catch("");
const maybeText = z.string().optional().catch(undefined);
const list = <Item extends z.ZodType>(item: Item) => z.array(item).catch([]);

const changeSchema = z.object({
  path: z.string().min(1),
  operation: z.enum(["create", "update", "delete"]),
  before_sha256: maybeText,
  after_sha256: maybeText,
});

const callSchema = z.object({
  call_id: text,
  tool: text,
  verdict: text,
  rule: text,
  plan_step: maybeText,
  verification: z.enum(["verified", "unverified", "failed"]).catch("unverified"),
  confirmation: z.object({ answer: text, by: text, scope: text }).optional().catch(undefined),
});

const hunkSchema = z.object({ decision: text });

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
        review: z
          .object({ proposalId: text, hunks: list(hunkSchema) })
          .optional()
          .catch(undefined),
      })
      .catch({}),
  }),
});

type Record = z.infer<typeof recordSchema>;

/**
 * The writes that records tell of, in their order. What is purged, or is of another program, tells of none. Whether a record is
 * genuine is not asked here.
 *
 * @param lines of a ledger, one record each
 */
export function readWrites(lines: Iterable<string>): readonly RecordedWrite[] {
  const writes: RecordedWrite[] = [];
  const reviews = new Map<string, WriteDecision>();
  for (const line of lines) {
    const record = recordOf(line);
    if (record === undefined) continue;
    const { review } = record.metadata.details;
    if (review !== undefined) reviews.set(review.proposalId, reviewed(review));
    for (const change of record.metadata.changes) writes.push(writeOf(record, change, reviews));
  }
  return writes;
}

function recordOf(line: string): Record | undefined {
  try {
    return recordSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function reviewed({
  proposalId,
  hunks,
}: {
  readonly proposalId: string;
  readonly hunks: readonly { readonly decision: string }[];
}): WriteDecision {
  const count = (decision: string): number => hunks.filter((hunk) => hunk.decision === decision).length;
  return { type: "reviewed", proposalId, kept: count("keep"), refused: count("undo"), edited: count("edited") };
}

function writeOf(
  record: Record,
  change: z.infer<typeof changeSchema>,
  reviews: ReadonlyMap<string, WriteDecision>,
): RecordedWrite {
  const { id: recordId, timestamp: time, files, metadata } = record;
  const { seq, kind, calls, details, session_id: sessionId, turn_id: turnId } = metadata;
  const conversations = files.find(({ path }) => path === change.path)?.conversations ?? [];
  // Of several calls in one record, the last one that was let run: those that write have a record each.
  const call = calls.at(-1);
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
    decision: decisionOf(call, reviews.get(details.proposalId ?? "")),
    verification: call?.verification ?? "unverified",
    isUndo: kind === "undo",
  };
}

function decisionOf(call: z.infer<typeof callSchema> | undefined, review: WriteDecision | undefined): WriteDecision {
  if (review !== undefined) return review;
  if (call === undefined) return { type: "person" };
  const { confirmation, rule, plan_step: step } = call;
  if (confirmation?.answer === "yes") {
    return { type: "approved", rule, by: confirmation.by, scope: confirmation.scope };
  }
  return step === undefined ? { type: "allowed", rule } : { type: "planned", step, rule };
}
