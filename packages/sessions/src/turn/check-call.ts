import type { FiredPolicy } from "@gennai/governance/gate/decide/run-policies";
import { deny } from "@gennai/governance/verdict";
import { ServiceError } from "@gennai/machine/service-error";
import type { Risk } from "@gennai/protocol/model/governance/risk";
import { chooseScenario } from "../policies/load-scenarios.ts";
import { onlyProposes, whyNotStaged } from "../policies/proposal-mode.ts";
import type { Session } from "../session/session.ts";
import { buildTurnGate } from "./turn-gate.ts";

/** The gate's decision on a call, and everything against it. */
export interface CallCheck {
  readonly verdict: "allow" | "ask" | "deny";
  readonly risk: Risk;
  readonly fired: readonly FiredPolicy[];
  /** Empty if simply allowed. */
  readonly reason: string;
  /** Allowed, and it runs on a copy: its changes are judged before any is kept. */
  readonly staged: boolean;
}

/**
 * Stages 1 to 4 of the gate for one call, as in a turn that starts now. No tool runs and no question is asked; users' own hooks
 * run, because they take part in the decision.
 */
export async function checkCall(session: Session, tool: string, argumentsJson: string): Promise<CallCheck> {
  const { signal } = new AbortController();
  const { scenario } = await chooseScenario(session, "");
  using gate = await buildTurnGate(session, scenario, { turnId: "check", modelId: "", signal, onlyChecks: true });
  const decided = await gate.tools.decide({ id: "check", name: tool, argumentsJson }, { turnId: "check", signal });
  if (decided.type === "decided") {
    const { verdict, risk, fired, analysis } = decided;
    if (verdict.type !== "allow") {
      return { verdict: verdict.type, risk, fired, reason: verdict.finding.reason, staged: false };
    }
    const staged = analysis.effects.some((effect) => effect.type === "exec" && effect.staged === true);
    return { verdict: "allow", risk, fired, reason: "", staged };
  }
  const { code, rule, hint } = decided.error;
  const noCommands = code === "unknown_tool" && tool === "Bash" ? await whyNoCommands(session) : undefined;
  if (noCommands === undefined && (code === "unknown_tool" || code === "bad_arguments")) {
    throw new ServiceError("invalid_argument", decided.error.message, { hint });
  }
  const message = noCommands ?? decided.error.message;
  const finding = { code, rule: rule ?? `tool/${code}`, reason: message, ...(hint === undefined ? {} : { hint }) };
  return {
    verdict: "deny",
    risk: "low",
    fired: [{ policy: "tool", verdict: deny(finding) }],
    reason: message,
    staged: false,
  };
}

/** Why every command of a session is refused; undefined if the mode is not the reason. */
async function whyNoCommands(session: Session): Promise<string | undefined> {
  if (session.settings.editingMode !== "proposal") return undefined;
  const why = await whyNotStaged(session);
  return why === undefined ? undefined : onlyProposes(why);
}
