import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import type { Policy } from "../policy.ts";
import { allow, ask, deny } from "../verdict.ts";
import { computeRisk } from "./risk.ts";

/**
 * Nothing of high impact happens without a user's explicit, single-use yes, and never in the user's own terminal, where it
 * cannot be contained.
 */
export function createHighRiskPolicy(): Policy {
  return {
    name: "high-risk",
    kind: "guard",
    decide({ analysis }) {
      if (!isAtLeast(computeRisk(analysis), "high")) return allow;
      if (analysis.effects.some((effect) => effect.type === "exec" && effect.where === "client")) {
        return deny({
          code: "high_risk_terminal",
          rule: "high-risk/terminal",
          reason: "Security Policy Violation: a command of high risk does not run in the user's terminal.",
          hint: "Use Bash, where it is confirmed and runs isolated; or tell the user the command.",
        });
      }
      return ask({
        code: "high_risk",
        rule: "high-risk/confirm",
        reason: "This action is of high risk: it destroys, is privileged, or reaches beyond this workspace.",
      });
    },
  };
}
