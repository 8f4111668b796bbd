import { createReadStream } from "node:fs";
import { fileLines } from "@gennai/governance/ledger/ledger-line";
import { ServiceError } from "@gennai/machine/service-error";
import { hasCode } from "@gennai/machine/system-error";
import { isRecord, parsedJson } from "@gennai/protocol/json-value";
import { readRecord } from "@gennai/protocol/read-record";
import { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";
import type { PolicyWorkbench } from "./policy-workbench.ts";
import type { ReplayedCall, WorkbenchReport } from "./workbench-report.ts";

/** Judges the calls in a workspace's ledger, see `PolicyWorkbench.replay`. */
export function replayLedger(
  place: { readonly workspaceRoot: string; readonly stateDir: string },
  workbench: PolicyWorkbench,
): AsyncGenerator<ReplayedCall, void, undefined> {
  return replayLines(ledgerLines(new WorkspaceLedger(place).file), workbench);
}

/**
 * Judges the calls in the lines of a ledger by today's rules, each once. Skips lines that are no records, which `gennai ledger
 * verify` reports. Files are as they are now, so only rules about names can be judged.
 */
export async function* replayLines(
  lines: AsyncIterable<string>,
  workbench: PolicyWorkbench,
): AsyncGenerator<ReplayedCall, void, undefined> {
  const begun = new Set<string>();
  for await (const line of lines) {
    const record = readRecord(line);
    if (record === undefined) continue;
    const { kind, calls, seq, turnId, details } = record;
    // A call that ran has an intent and an outcome, or only an outcome if it only read; a refused one has a refusal.
    if (kind !== "intent" && kind !== "refusal" && details["only_reads"] !== true) continue;
    for (const { callId, tool, rule, input: text, ...call } of calls) {
      const past = verdictOf(call.verdict);
      const input = parsedJson(text);
      if (past === undefined || tool === "" || !isRecord(input)) continue;
      // Effects during a call have their own records: a host, changes that are kept.
      if (kind === "intent" && turnId !== "") {
        const key = JSON.stringify([turnId, callId]);
        if (begun.has(key)) continue;
        begun.add(key);
      }
      const now = await workbench.decide(tool, input);
      const needsIntent = workbench.intentsIgnored && rule.startsWith("intents/");
      yield {
        seq,
        callId,
        tool,
        input: text,
        past: { verdict: past, rule },
        today: { verdict: now.verdict, outcome: now.outcome, rule: now.rule, reason: now.reason, risk: now.risk },
        differs: now.verdict !== past && !needsIntent,
        needsIntent,
      };
    }
  }
}

async function* ledgerLines(file: string): AsyncGenerator<string, void, undefined> {
  try {
    for await (const { bytes } of fileLines(createReadStream(file))) yield Buffer.from(bytes).toString();
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
    const hint = "Nothing was recorded here yet; gennai ledger verify tells more.";
    throw new ServiceError("not_found", `There is no ledger at ${file}.`, { hint, cause });
  }
}

function verdictOf(value: string): WorkbenchReport["verdict"] | undefined {
  return value === "allow" || value === "ask" || value === "deny" ? value : undefined;
}
