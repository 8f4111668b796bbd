import { timestampDate } from "@bufbuild/protobuf/wkt";
import { type Risk, riskFromMessage } from "@gennai/protocol/model/governance/risk";
import { type RuleKindWord, ruleKindWords } from "@gennai/protocol/model/governance/rule-kind";
import { verdictWords } from "@gennai/protocol/model/governance/tool-outcome";
import type { CallOptions, GovernanceClient } from "../connection/connection.ts";

/** A rule in force, and its recent decisions. */
export interface RuleInForce {
  readonly name: string;
  /** `code`: it is in no rule file. */
  readonly kind: RuleKindWord;
  /** The pattern, path or tool; empty for a rule of the code. */
  readonly text: string;
  readonly reason: string;
  /** undefined: it may say either. */
  readonly verdict: "ask" | "deny" | undefined;
  /** `file:line`; empty if it is in no file that a user could open. */
  readonly place: string;
  /** Calls that it refused, or that a person refused whom it had asked. */
  readonly refused: number;
  /** Calls that a person let through whom it had asked. */
  readonly allowed: number;
  readonly last: Date | undefined;
}

export interface RulesInForce {
  readonly rules: readonly RuleInForce[];
  /** The newest calls of the ledger, from which it is known what the rules did. */
  readonly callsLookedAt: number;
}

/** What would happen to a call. `staged`: it runs on a copy, and its changes are judged before any is kept. */
export interface CheckedCall {
  readonly outcome: "allow" | "staged" | "ask" | "deny";
  readonly risk: Risk;
  /** Empty for a plain allow. */
  readonly reason: string;
  /** Every rule that did not allow. */
  readonly rules: readonly { readonly rule: string; readonly verdict: "ask" | "deny"; readonly reason: string }[];
}

/** Rejects with `ConnectError`. @param sessionId empty: the default workspace */
export async function listRules(
  client: Pick<GovernanceClient, "listRules">,
  sessionId: string,
  options: CallOptions,
): Promise<RulesInForce> {
  const { rules, callsLookedAt } = await client.listRules({ sessionId }, options);
  return {
    callsLookedAt,
    rules: rules.map(({ name, kind, text, reason, verdict, place, activity }) => ({
      name,
      kind: ruleKindWords.fromMessage(kind) ?? "code",
      text,
      reason,
      verdict: spokenAgainst(verdictWords.fromMessage(verdict)),
      place,
      refused: activity?.refused ?? 0,
      allowed: activity?.allowed ?? 0,
      last: activity?.last === undefined ? undefined : timestampDate(activity.last),
    })),
  };
}

/** The gate's verdict on a `Bash` command in a session. Nothing runs and nothing is asked. Rejects with `ConnectError`. */
export async function checkCommand(
  client: Pick<GovernanceClient, "checkPolicy">,
  { sessionId, command }: { readonly sessionId: string; readonly command: string },
  options: CallOptions,
): Promise<CheckedCall> {
  const argumentsJson = JSON.stringify({ command });
  const answer = await client.checkPolicy({ sessionId, tool: "Bash", argumentsJson }, options);
  // An unknown verdict is no permission.
  const verdict = verdictWords.fromMessage(answer.verdict) ?? "deny";
  return {
    outcome: verdict === "allow" && answer.staged ? "staged" : verdict,
    risk: riskFromMessage(answer.risk),
    reason: answer.reason,
    rules: answer.rules.flatMap(({ rule, verdict: said, reason }) => {
      const against = spokenAgainst(verdictWords.fromMessage(said));
      return against === undefined ? [] : [{ rule, verdict: against, reason }];
    }),
  };
}

function spokenAgainst(verdict: "allow" | "ask" | "deny" | undefined): "ask" | "deny" | undefined {
  return verdict === "allow" ? undefined : verdict;
}
