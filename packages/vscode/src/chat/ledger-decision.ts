import { readRecord } from "@gennai/protocol/read-record";

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
  const { seq = 0, timestamp: time = "", calls = [] } = readRecord(json) ?? {};
  return calls
    .filter(({ verdict }) => verdict === "deny" || verdict === "ask")
    .map(({ tool, input, verdict, rule, risk, confirmation: { answer = "", by = "" } = {} }) => ({
      seq,
      time,
      tool,
      input: input.slice(0, inputLimit),
      verdict,
      rule,
      risk,
      answer: [answer, by === "" ? "" : `by ${by}`].filter((word) => word !== "").join(" "),
    }));
}
