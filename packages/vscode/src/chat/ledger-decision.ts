import { parsedJson } from "@gennai/protocol/json-value";
import * as z from "zod/mini";
import { catch as otherwise } from "zod/mini";

const text = otherwise(z.string(), "");

const callSchema = z.object({
  tool: text,
  input: otherwise(z.unknown(), undefined),
  verdict: text,
  rule: text,
  risk: text,
  confirmation: otherwise(z.object({ answer: text, by: text }), { answer: "", by: "" }),
});

const recordSchema = z.object({
  timestamp: text,
  metadata: z.object({ seq: otherwise(z.number(), 0), calls: otherwise(z.array(callSchema), []) }),
});

/** A call in the ledger that the rules denied or asked about. */
export interface LedgerDecision {
  readonly seq: number;
  readonly time: string;
  readonly tool: string;
  /** The redacted arguments on one line, shortened. */
  readonly input: string;
  readonly verdict: string;
  readonly rule: string;
  readonly risk: string;
  /** E.g. `no by user`; empty: nobody was asked. */
  readonly answer: string;
}

const inputLimit = 500;

/** The calls of a record that were not simply allowed; none for a line that is not a record. */
export function decisionsIn(json: string): readonly LedgerDecision[] {
  const record = recordSchema.safeParse(parsedJson(json)).data;
  if (record === undefined) return [];
  const { seq, calls } = record.metadata;
  return calls
    .filter(({ verdict }) => verdict === "deny" || verdict === "ask")
    .map(({ tool, input, verdict, rule, risk, confirmation: { answer, by } }) => ({
      seq,
      time: record.timestamp,
      tool,
      input: (typeof input === "string" ? input : (JSON.stringify(input) ?? "")).slice(0, inputLimit),
      verdict,
      rule,
      risk,
      answer: [answer, by === "" ? "" : `by ${by}`].filter((word) => word !== "").join(" "),
    }));
}
