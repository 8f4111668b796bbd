import { endpointName } from "../../network/endpoint.ts";
import type { Policy } from "../../policy.ts";
import { allow, ask } from "../../verdict.ts";

/** The rule that asks about what a command wants to reach. */
export const connectionRule = "network/connection";

/** The same name as the rule that asks about a login for a separate run. */
const loginRule = "keys/use";

/** No command reaches anything that a person did not let it reach. */
export function createConnectionsPolicy(): Policy {
  return {
    name: "network",
    kind: "guard",
    decide({ analysis }) {
      const reached = analysis.effects.flatMap((effect) => (effect.type === "net" ? effect : []));
      const wanted = reached.flatMap((effect) => effect.wanted ?? []);
      const [first] = wanted;
      if (first === undefined) return allow;
      const logins = reached.flatMap((effect) =>
        effect.wanted === undefined || effect.login === undefined ? [] : `${effect.url} with ${effect.login}`,
      );
      if (logins.length > 0) {
        return ask({
          code: "key_needs_confirmation",
          rule: loginRule,
          reason: `${first.program} wants ${wanted.map(endpointName).join(", ")}; of these, ${logins.join(", ")}. Gennai adds the login to what is read of packages there: nothing in the run sees it, and nothing can be published or changed with it.`,
          hint: "Do without it, or tell the user what it is needed for.",
        });
      }
      return ask({
        code: "network_needs_confirmation",
        rule: connectionRule,
        reason: `${first.program} wants ${wanted.map(endpointName).join(", ")}.`,
        hint: "Do without it, or tell the user what it is needed for.",
      });
    },
  };
}
