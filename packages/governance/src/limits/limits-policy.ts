import { noEmergency } from "@gennai/protocol/model/governance/emergency";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import { type Effect, isReadOnly, type NetworkAccess } from "../effect.ts";
import { type Endpoint, endpointOf } from "../endpoint.ts";
import { computeRisk } from "../policies/risk.ts";
import type { Policy, PolicyInput } from "../policy.ts";
import { programNamed } from "../programs/known-programs.ts";
import type { Analysis } from "../tool.ts";
import { allow, ask, deny, laidDownByRoot, strictest, type Verdict } from "../verdict.ts";
import { emergencyVerdict, foldToolName } from "./emergency-verdict.ts";
import { endpointRefusal, unstagedRefusal } from "./laid-down.ts";
import { type Limit, type Limits, placeOf } from "./limits.ts";
import type { Capability } from "./policy-schema.ts";

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
    ...limits.flatMap((limit) => call.analysis.effects.map((effect) => effectVerdict(limit, effect))),
    // The agent's own controls are for people, whether or not a limit is in force.
    emergencyVerdict(noEmergency, call),
  ]);
}

/** What a limit's other keys say of one effect. */
function effectVerdict(limit: Limit, effect: Effect): Verdict {
  if (effect.type === "net") return networkVerdict(limit, effect);
  if (effect.type !== "exec" || effect.staged === true) return allow;
  const { require, network } = limit;
  const { readsOnly } = effect.command;
  if (unstagedRefusal([limit]) !== undefined && !(readsOnly && require?.sandbox !== true)) {
    const key = require?.sandbox === true ? "sandbox" : "stages";
    return refused(limit, `require.${key}`, "This command would run outside of the sandbox.");
  }
  if (network === undefined || readsOnly) return allow;
  return refused(limit, "network", "Outside the sandbox, the hosts that this command reaches cannot be limited.");
}

function networkVerdict(limit: Limit, effect: NetworkAccess): Verdict {
  const key = endpointRefusal(limit, effect.wanted ?? endpointAt(effect.url));
  if (key === undefined) return allow;
  const reason = `${effect.url} is not among the hosts that the policy ${limit.name} lists.`;
  if (key !== "ask") return refused(limit, key, reason);
  return ask({ code: "managed_policy", rule: "limits/network", reason, place: placeOf(limit, "network.allow") });
}

/** A URL, or what else an effect that reaches something says. */
function endpointAt(text: string): Endpoint | undefined {
  const url = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (url === null) return undefined;
  return endpointOf(url.hostname, Number(url.port || (url.protocol === "http:" ? 80 : 443)));
}

function refused(limit: Limit, key: string, reason: string): Verdict {
  return named(limit, key, deny({ code: "managed_policy", rule: `limits/${key.replace(".", "/")}`, reason }));
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
  const invalid = limit.problem !== undefined && {
    code: limit.problemCode ?? "policy_invalid",
    rule: limit.problemCode === undefined ? "limits/invalid" : "limits/export",
  };
  const place = placeOf(limit, limit.problemCode === undefined ? key : "export");
  return deny(laidDownByRoot({ ...verdict.finding, ...invalid, place }, limit));
}

/** Whether a limit permits all that a call needs. */
function capabilityVerdict({ name, capabilities, problem }: Limit, analysis: Analysis): Verdict {
  if (capabilities === undefined) return allow;
  const needed = new Set<Capability>(analysis.effects.flatMap(neededFor));
  if (isAtLeast(computeRisk(analysis), "high")) needed.add("high_impact");
  const missing = [...needed].filter((capability) => !capabilities.includes(capability));
  if (missing.length === 0) return allow;
  const because = problem === undefined ? "" : `: ${problem}`;
  return deny({
    code: "capability_denied",
    rule: `capabilities/${missing[0]}`,
    reason: `This needs the capability ${missing.map(wordFor).join(" and ")}, which the policy ${name} does not give${because}.`,
    hint:
      problem === undefined
        ? "Do it without, or ask the user for a policy that permits it (gennai policy show)."
        : "Only reading works until the user has corrected the policy (gennai policy show).",
  });
}

function neededFor(effect: Effect): readonly Capability[] {
  switch (effect.type) {
    case "read":
    case "list":
    case "search":
      return ["read"];
    case "propose":
      return ["propose"];
    case "write":
    case "git":
      return ["write"];
    case "net":
      return ["network"];
    case "external":
      return effect.readsOnly ? ["network"] : ["network", "execute"];
    case "session":
      return [];
    case "exec": {
      if (isReadOnly(effect)) return ["read"];
      // If it can do anything, unknown parts may be anything.
      if (effect.staged !== true && effect.command.unresolved.length > 0) return ["execute", "network", "high_impact"];
      const leaves = effect.command.commands.some(({ name }) => programNamed(name)?.reaches === true);
      return leaves || effect.command.dangers.some(({ rule }) => networkRules.has(rule))
        ? ["execute", "network"]
        : ["execute"];
    }
  }
}

/** Rules of the floor about what leaves the machine. */
const networkRules: ReadonlySet<string> = new Set(["floor/send-data", "floor/remote-shell", "floor/deploy"]);

function wordFor(capability: Capability): string {
  return capability.replace("_", "-");
}
