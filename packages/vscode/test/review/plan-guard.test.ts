import { sha256Hex } from "@gennai/protocol/digest";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import { expect, it } from "vitest";
import { guardPlan, type StoredApproval } from "#review/plan-guard";
import { planWith } from "../../../client/test/plan/plan-with.ts";

const planJson = '{"steps":[]}';
const plan = planWith(planJson, { planId: "p" });
const now = new Date("2026-01-01T00:00:00Z");
const approval: StoredApproval = {
  planId: "p",
  digest: plan.digest,
  token: "t".repeat(43),
  spent: false,
  expires: new Date("2026-01-01T00:10:00Z"),
};
const spent = { ...approval, spent: true };
const verifying: Plan = { ...plan, state: "verifying" };

interface Row {
  readonly name: string;
  readonly action?: "execute" | "verify";
  readonly plan?: Partial<Plan>;
  readonly approval?: StoredApproval | undefined;
  readonly want: "send" | "refuse";
}

const rows: readonly Row[] = [
  { name: "an approved plan", want: "send" },
  { name: "text that is not a plan", plan: { planJson: "[]", digest: sha256Hex("[]") }, want: "refuse" },
  { name: "a digest of another text", plan: { planJson: '{"steps":[1]}' }, want: "refuse" },
  { name: "a draft", plan: { state: "draft" }, want: "refuse" },
  { name: "a plan that runs", plan: { state: "executing" }, want: "refuse" },
  { name: "a plan that is done", plan: { state: "done" }, want: "refuse" },
  { name: "no approval", approval: undefined, want: "refuse" },
  { name: "an approval of another plan", approval: { ...approval, planId: "q" }, want: "refuse" },
  { name: "an approval of another digest", approval: { ...approval, digest: sha256Hex("x") }, want: "refuse" },
  { name: "no token", approval: { ...approval, token: "" }, want: "refuse" },
  { name: "a short token", approval: { ...approval, token: "abc" }, want: "refuse" },
  { name: "an approval that was used", approval: spent, want: "refuse" },
  { name: "an approval that expired", approval: { ...approval, expires: now }, want: "refuse" },
  {
    name: "verify after the run",
    action: "verify",
    plan: verifying,
    approval: { ...spent, expires: now },
    want: "send",
  },
  { name: "verify before the run", action: "verify", approval: spent, want: "refuse" },
  { name: "verify with an approval that opened no run", action: "verify", plan: verifying, want: "refuse" },
];

it.each(rows)("guardPlan: $name: $want", ({ action = "execute", want, ...row }) => {
  const facts = { plan: { ...plan, ...row.plan }, approval: "approval" in row ? row.approval : approval, now };
  expect(guardPlan(action, facts).type).toBe(want);
});
