import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import { type Effect, isReadOnly } from "../effect.ts";
import { computeRisk } from "../policies/risk.ts";
import { programNamed } from "../programs/known-programs.ts";
import type { Analysis } from "../tool.ts";
import { allow, deny, type Verdict } from "../verdict.ts";
import type { Limit } from "./limits.ts";
import type { Capability } from "./policy-schema.ts";

/** Whether a limit permits all that a call needs. */
export function capabilityVerdict({ name, capabilities, problem }: Limit, analysis: Analysis): Verdict {
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
