import type { Risk } from "@gennai/protocol/model/risk";
import type { PolicyWorkbench } from "./policy-workbench.ts";

type VerdictType = "allow" | "ask" | "deny";

/** One call of the past that today's rules judge. */
export interface ReplayedCall {
  readonly seq: number;
  readonly callId: string;
  readonly tool: string;
  /** As recorded: canonical JSON, redacted. */
  readonly input: string;
  readonly past: { readonly verdict: VerdictType; readonly rule: string };
  readonly today: {
    readonly verdict: VerdictType;
    readonly rule: string;
    readonly reason: string;
    readonly risk: Risk;
  };
  readonly differs: boolean;
}

/**
 * Judges the calls that the lines of a ledger tell of by today's rules, each call once. Lines that are no record are passed
 * over; `gennai ledger verify` is there for those. Files are as they are now, so only what rules say of names can be told.
 */
export async function* replayLedger(
  lines: AsyncIterable<string>,
  workbench: PolicyWorkbench,
): AsyncGenerator<ReplayedCall, void, undefined> {
  for await (const line of lines) {
    const metadata = field(parsed(line), "metadata");
    const kind = field(metadata, "kind");
    const calls = field(metadata, "calls");
    // What ran has an intent and an outcome, what was refused a refusal only.
    if ((kind !== "intent" && kind !== "refusal") || !Array.isArray(calls)) continue;
    const seq = field(metadata, "seq");
    for (const call of calls) {
      const past = verdictOf(field(call, "verdict"));
      const tool = field(call, "tool");
      const text = field(call, "input");
      if (past === undefined || typeof tool !== "string" || typeof text !== "string") continue;
      const input = parsed(text);
      if (!isRecord(input)) continue;
      const now = await workbench.decide(tool, input);
      yield {
        seq: typeof seq === "number" ? seq : 0,
        callId: textOf(field(call, "call_id")),
        tool,
        input: text,
        past: { verdict: past, rule: textOf(field(call, "rule")) },
        today: { verdict: now.verdict, rule: now.rule, reason: now.reason, risk: now.risk },
        differs: now.verdict !== past,
      };
    }
  }
}

function verdictOf(value: unknown): VerdictType | undefined {
  return value === "allow" || value === "ask" || value === "deny" ? value : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function field(value: unknown, name: string): unknown {
  return isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
