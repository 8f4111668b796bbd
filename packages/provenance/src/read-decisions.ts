import { readRecord } from "@gennai/protocol/read-record";

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

/** The questions and refusals that records name, in their order. @param lines of a ledger, one record each */
export function readDecisions(lines: Iterable<string>): readonly AskedCall[] {
  const asked: AskedCall[] = [];
  for (const line of lines) {
    const record = readRecord(line);
    if (record === undefined) continue;
    const { seq, kind, sessionId, calls } = record;
    // An intent says what was about to be done; the result has a record of its own.
    if (kind !== "outcome" && kind !== "refusal") continue;
    const of = { seq, time: record.timestamp, sessionId };
    for (const call of calls) {
      const { tool, rule, verdict, confirmation } = call;
      for (const other of call.alsoAsked) {
        if (other.confirmation !== undefined)
          asked.push({ ...of, tool, rule: other.rule, ...answerOf(other.confirmation) });
      }
      if (confirmation !== undefined) asked.push({ ...of, tool, rule, ...answerOf(confirmation) });
      // What a call wanted while it ran is refused in the record of its end.
      else if (kind === "refusal" || verdict === "deny") asked.push({ ...of, tool, rule, answer: "refused", by: "" });
    }
  }
  return asked;
}

/** A question that was passed on is the other agent's, and here it is only known that the call ran. */
function answerOf({ answer, by }: { readonly answer: string; readonly by: string }): Pick<AskedCall, "answer" | "by"> {
  return { answer: answer === "yes" || answer === "passed-on" ? "yes" : "no", by };
}
