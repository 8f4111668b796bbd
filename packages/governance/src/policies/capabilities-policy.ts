import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import { type Effect, isReadOnly } from "../effect.ts";
import type { Policy } from "../policy.ts";
import { programNamed } from "../programs/known-programs.ts";
import { allow, deny } from "../verdict.ts";
import type { Capability, CapabilityProfileState } from "./capability-profile.ts";
import { computeRisk } from "./risk.ts";

/**
 * Refuses what the profile in force does not permit, before anything is tried. It comes first of all policies, so that a
 * capability that is missing is what the refusal names.
 */
export function createCapabilitiesPolicy(source: { current(): CapabilityProfileState }): Policy {
  return {
    name: "capabilities",
    kind: "guard",
    decide({ analysis }) {
      const { profile, problem } = source.current();
      const needed = new Set<Capability>(analysis.effects.flatMap(neededFor));
      if (isAtLeast(computeRisk(analysis), "high")) needed.add("high_impact");
      const missing = [...needed].filter((capability) => !profile.capabilities.includes(capability));
      if (missing.length === 0) return allow;
      const because = problem === undefined ? "" : `: ${problem}`;
      return deny({
        code: "capability_denied",
        rule: `capabilities/${missing[0]}`,
        reason: `This needs the capability ${missing.map(wordFor).join(" and ")}, which the profile ${profile.name} does not give${because}.`,
        hint:
          problem === undefined
            ? "Do it without, or ask the user for a profile that permits it (gennai capabilities show)."
            : "Only reading works until the user has corrected the profile (gennai capabilities show).",
      });
    },
  };
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
