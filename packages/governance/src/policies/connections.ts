import { endpointName } from "../endpoint.ts";
import type { Policy } from "../policy.ts";
import { allow, ask } from "../verdict.ts";

/** The rule that asks about what a command wants to reach. */
export const connectionRule = "network/connection";

/** The rule that asks about a login of the user's, each time. */
const loginRule = "keys/use";

/** No command reaches anything that a person did not let it reach, and none gets a login without a yes that names it. */
export function createConnectionsPolicy(): Policy {
  return {
    name: "network",
    kind: "guard",
    decide({ analysis }) {
      const reached = analysis.effects.flatMap((effect) => (effect.type === "net" ? effect : []));
      // For a run in which nothing of the workspace runs.
      const alone = reached.find(({ login, wanted }) => login !== undefined && wanted === undefined);
      if (alone !== undefined) {
        return ask({
          code: "key_needs_confirmation",
          rule: loginRule,
          reason: `For this one run, ${alone.url} can be reached, with ${alone.login}. Nothing of the workspace runs in it.`,
        });
      }
      const wanted = reached.flatMap((effect) => effect.wanted ?? []);
      const [first] = wanted;
      if (first === undefined) return allow;
      if (first.sends !== undefined) {
        return ask({
          code: "key_needs_confirmation",
          rule: loginRule,
          reason: `${first.program} wants to ${first.sends} at ${endpointName(first)}, with ${first.login ?? "no login"}.`,
          hint: "Do without it, or tell the user what it is needed for.",
        });
      }
      // The same question would seem to come again.
      const inside = wanted
        .flatMap(({ host, address }) =>
          address === undefined ? [] : ` ${host} is ${address}, in a network of this machine.`,
        )
        .join("");
      const logins = reached.flatMap((effect) =>
        effect.wanted === undefined || effect.login === undefined ? [] : `${effect.url} with ${effect.login}`,
      );
      if (logins.length > 0) {
        return ask({
          code: "key_needs_confirmation",
          rule: loginRule,
          reason: `${first.program} wants ${wanted.map(endpointName).join(", ")}; of these, ${logins.join(", ")}.${inside} Gennai adds the login to what is read there; the run never sees it. Each change there is asked about.`,
          hint: "Do without it, or tell the user what it is needed for.",
        });
      }
      return ask({
        code: "network_needs_confirmation",
        rule: connectionRule,
        reason: `${first.program} wants ${wanted.map(endpointName).join(", ")}.${inside}`,
        hint: "Do without it, or tell the user what it is needed for.",
      });
    },
  };
}
