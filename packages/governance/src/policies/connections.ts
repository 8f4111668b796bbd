import { endpointName } from "../network/endpoint.ts";
import type { Policy } from "../policy.ts";
import { allow, ask } from "../verdict.ts";

/** The rule that asks about what a command wants to reach. */
export const connectionRule = "network/connection";

/** No command reaches anything that a person did not let it reach. */
export function createConnectionsPolicy(): Policy {
  return {
    name: "network",
    kind: "guard",
    decide({ analysis }) {
      const wanted = analysis.effects.flatMap((effect) => (effect.type === "net" ? (effect.wanted ?? []) : []));
      const [first] = wanted;
      if (first === undefined) return allow;
      return ask({
        code: "network_needs_confirmation",
        rule: connectionRule,
        reason: `${first.program} wants ${wanted.map(endpointName).join(", ")}.`,
        hint: "Do without it, or tell the user what it is needed for.",
      });
    },
  };
}
