import { canonicalJson } from "@gennai/protocol/canonical-json";
import { sha256Hex } from "@gennai/protocol/digest";
import type { Plan } from "@gennai/protocol/model/governance/plan";

/** A plan that waits for its approval, by its text. */
export function planWith(planJson: string, more: Partial<Plan> = {}): Plan {
  return {
    planId: "1",
    state: "awaiting_approval",
    digest: sha256Hex(planJson),
    planJson,
    title: "T",
    summary: "",
    steps: [],
    claimed: false,
    executed: false,
    verified: false,
    remediation: "",
    ...more,
  };
}

/** A plan of one command, as a client is given it. */
export const onePlan = canonicalJson({
  id: "p",
  title: "T",
  summary: "",
  risks: [],
  steps: [{ id: "s", title: "S", intent: "", actions: [{ type: "command", command: "true" }], verify: [] }],
});
