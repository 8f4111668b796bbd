import type { Policy } from "../policy.ts";
import { allow, ask } from "../verdict.ts";
import { computeRisk } from "./risk.ts";

/** Nothing of high impact happens without a person's explicit, single-use yes. */
export function createHighRiskPolicy(): Policy {
  return {
    name: "high-risk",
    kind: "guard",
    decide: ({ analysis }) =>
      computeRisk(analysis) === "high"
        ? ask({
            code: "high_risk",
            rule: "high-risk/confirm",
            reason: "This action is of high risk: it destroys, is privileged, or reaches beyond this workspace.",
          })
        : allow,
  };
}
