import { noEmergency } from "@gennai/protocol/model/governance/emergency";
import type { Policy, PolicyInput } from "../policy.ts";
import { deny, strictest, type Verdict } from "../verdict.ts";
import { capabilityVerdict } from "./capability-verdict.ts";
import { emergencyVerdict, foldToolName } from "./emergency-verdict.ts";
import { type Limit, type Limits, placeOf } from "./limits.ts";

type Judged = Pick<PolicyInput, "toolName" | "analysis">;

/** Refuses what a limit in force does not permit, before anything is tried. It asks nothing, and comes first of all policies. */
export function createLimitsPolicy(source: { current(): Limits }): Policy {
  return { name: "limits", kind: "guard", decide: (input) => limitsVerdict(source.current(), input) };
}

/** The verdict of all limits on one call: each is asked, and the strictest counts. A missing capability is named first. */
export function limitsVerdict(limits: Limits, call: Judged): Verdict {
  return strictest([
    ...limits.map((limit) => named(limit, "capabilities", capabilityVerdict(limit, call.analysis))),
    ...limits.map((limit) => switchedOff(limit, call)),
    // The agent's own controls are for people, whether or not a limit is in force.
    emergencyVerdict(noEmergency, call),
  ]);
}

/** What a limit's emergency controls say, as for its own. */
function switchedOff(limit: Limit, call: Judged): Verdict {
  const { emergency, switches } = limit;
  if (switches !== undefined) return emergencyVerdict(switches, call);
  if (emergency === undefined) return emergencyVerdict(noEmergency, call);
  const { read_only: readOnly = false, disable_high_impact: disableHighImpact = false, block = [] } = emergency;
  const state = { readOnly, disableHighImpact, blockedTools: block.map(foldToolName), stopAll: false };
  return named(limit, "emergency", emergencyVerdict(state, call));
}

/** The refusal of a file of root says which file, and whom to ask instead of how to lift it. */
function named(limit: Limit, key: string, verdict: Verdict): Verdict {
  if (verdict.type !== "deny" || limit.holder !== "root" || verdict.finding.rule === "emergency/people-only")
    return verdict;
  const questions = limit.contact === undefined ? "" : ` Questions: ${limit.contact}.`;
  const hint = `${limit.name} lays this down for this machine, and nobody here can lift it.${questions}`;
  const invalid = limit.problem !== undefined && { code: "policy_invalid", rule: "limits/invalid" };
  return deny({ ...verdict.finding, ...invalid, hint, place: placeOf(limit, key) });
}
