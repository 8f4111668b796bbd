import * as z from "zod";

/** A call that a person was asked about, or that was refused. */
export interface AskedCall {
  /** Of the record in its ledger. */
  readonly seq: number;
  /** RFC 3339, UTC. */
  readonly time: string;
  readonly sessionId: string;
  readonly tool: string;
  /** What asked, or refused. */
  readonly rule: string;
  /** `refused`: a rule said no, nobody was asked. */
  readonly answer: "yes" | "no" | "refused";
  /** Who answered; empty when nobody was asked. */
  readonly by: string;
}

const text = z.string().catch("");

const recordSchema = z.object({
  timestamp: z.string(),
  metadata: z.object({
    seq: z.number(),
    kind: z.string(),
    session_id: text,
    calls: z
      .array(
        z.object({
          tool: text,
          verdict: text,
          rule: text,
          confirmation: z.object({ answer: text, by: text }).optional().catch(undefined),
        }),
      )
      .catch([]),
  }),
});

/** The questions and refusals that records name, in their order. @param lines of a ledger, one record each */
export function readDecisions(lines: Iterable<string>): readonly AskedCall[] {
  const asked: AskedCall[] = [];
  for (const line of lines) {
    const record = recordOf(line);
    if (record === undefined) continue;
    const { seq, kind, session_id: sessionId, calls } = record.metadata;
    // An intent says what was about to be done; the result has a record of its own.
    if (kind !== "outcome" && kind !== "refusal") continue;
    for (const { tool, rule, confirmation } of calls) {
      const isRefusal = kind === "refusal";
      if (confirmation === undefined && !isRefusal) continue;
      const answer = confirmation === undefined ? "refused" : isRefusal ? "no" : "yes";
      asked.push({ seq, time: record.timestamp, sessionId, tool, rule, answer, by: confirmation?.by ?? "" });
    }
  }
  return asked;
}

function recordOf(line: string): z.infer<typeof recordSchema> | undefined {
  try {
    return recordSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
