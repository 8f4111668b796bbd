import { readRecord } from "@gennai/protocol/read-record";

/** A rule's decisions among the examined calls. */
export interface RuleActivity {
  /** Refused, by the rule or by a person that it had asked. */
  readonly refused: number;
  /** Let through by a person that it had asked. */
  readonly allowed: number;
  /** Milliseconds since the epoch; undefined when it decided none. */
  readonly last: number | undefined;
}

export interface LedgerActivity {
  /** By the rule's name. */
  readonly rules: ReadonlyMap<string, RuleActivity>;
  /** Calls that were looked at. */
  readonly calls: number;
}

interface Decided {
  readonly rule: string;
  readonly refused: boolean;
  readonly time: number;
}

/**
 * What each rule did, from records of a ledger, oldest first. A refused call has one record, one that ran has several: the last
 * counts. Lines that are no record are skipped, which `verifyLedger` reports.
 *
 * @param lines each a record as JSON
 */
export function ruleActivity(lines: readonly string[]): LedgerActivity {
  const calls = new Map<string, Decided>();
  for (const line of lines) {
    const record = readRecord(line);
    if (record === undefined) continue;
    const time = Date.parse(record.timestamp) || 0;
    for (const { callId, rule, verdict } of record.calls)
      calls.set(`${record.turnId}/${callId}`, { rule, refused: verdict === "deny", time });
  }
  const rules = new Map<string, RuleActivity>();
  for (const { rule, refused, time } of calls.values()) {
    if (rule === "") continue;
    const before = rules.get(rule) ?? { refused: 0, allowed: 0, last: 0 };
    rules.set(rule, {
      refused: before.refused + (refused ? 1 : 0),
      allowed: before.allowed + (refused ? 0 : 1),
      last: Math.max(before.last ?? 0, time),
    });
  }
  return { rules, calls: calls.size };
}
