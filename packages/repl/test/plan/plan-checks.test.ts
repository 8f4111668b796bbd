import { sha256Hex } from "@gennai/protocol/digest";
import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";
import { expect, test } from "vitest";
import { type PlanAct, type PlanFacts, planChecks } from "#plan/plan-checks";
import { onePlan, planWith } from "../../../client/test/plan/plan-with.ts";

const planJson = onePlan;
const digest = sha256Hex(planJson);
const plan = planWith(planJson);
const action: PlannedAction = {
  stepId: "s",
  actionIndex: 0,
  change: undefined,
  command: "true",
  cwd: "",
  verdict: "ask",
  risk: "low",
  rule: "",
  reason: "",
};
const shown = { planId: "1", digest, actions: [action] };
const held = { planId: "1", digest, token: "A".repeat(43), expires: new Date(2_000) };
const facts: PlanFacts = {
  plan,
  shown,
  approval: undefined,
  run: undefined,
  changeSetId: undefined,
  busy: false,
  now: 1_000,
};
const approved = { approval: held };
const ran = { plan: { ...plan, state: "verifying" }, run: { ...held, expires: undefined } } as const;

const rows: readonly { name: string; facts: Partial<PlanFacts>; allowed: readonly PlanAct[] }[] = [
  { name: "no plan", facts: { plan: undefined, shown: undefined }, allowed: [] },
  { name: "a draft", facts: { plan: { ...plan, state: "draft" }, shown: undefined }, allowed: ["preview"] },
  { name: "looked at", facts: {}, allowed: ["preview", "approve"] },
  { name: "not looked at", facts: { shown: undefined }, allowed: ["preview"] },
  { name: "another digest was looked at", facts: { shown: { ...shown, digest: "0" } }, allowed: ["preview"] },
  {
    name: "a denied action",
    facts: { shown: { ...shown, actions: [{ ...action, verdict: "deny" }] } },
    allowed: ["preview"],
  },
  { name: "approved", facts: approved, allowed: ["preview", "execute"] },
  { name: "approved, and something runs", facts: { ...approved, busy: true }, allowed: [] },
  { name: "approval expired", facts: { ...approved, now: 2_000 }, allowed: ["preview", "approve"] },
  { name: "approval of another plan", facts: { approval: { ...held, planId: "2" } }, allowed: ["preview", "approve"] },
  {
    name: "approval of another digest",
    facts: { approval: { ...held, digest: "0" } },
    allowed: ["preview", "approve"],
  },
  { name: "a token of another form", facts: { approval: { ...held, token: "x" } }, allowed: ["preview", "approve"] },
  {
    name: "text that is not the digest's",
    facts: { ...approved, plan: { ...plan, planJson: planJson.replace("true", "fals") } },
    allowed: [],
  },
  {
    name: "text that is not a plan",
    facts: { ...approved, plan: { ...plan, planJson: "{}", digest: sha256Hex("{}") } },
    allowed: [],
  },
  { name: "a state nobody knows", facts: { ...approved, plan: { ...plan, state: "unknown" } }, allowed: [] },
  { name: "running", facts: { ...approved, plan: { ...plan, state: "executing" } }, allowed: [] },
  { name: "ran", facts: ran, allowed: ["verify"] },
  { name: "ran elsewhere", facts: { ...ran, run: undefined }, allowed: [] },
  { name: "ran and changed files", facts: { ...ran, changeSetId: "c" }, allowed: ["verify", "rollback"] },
  {
    name: "broke off and changed files",
    facts: { plan: { ...plan, state: "partial" }, changeSetId: "c" },
    allowed: ["rollback"],
  },
];

test.each(rows)("$name: $allowed", ({ facts: own, allowed }) => {
  const checks = planChecks({ ...facts, ...own });
  const acts: readonly PlanAct[] = ["preview", "approve", "execute", "verify", "rollback"];
  expect(acts.filter((act) => checks[act].allowed)).toEqual(allowed);
});
