import { sha256Hex } from "@gennai/protocol/digest";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import { expect, test } from "vitest";
import { type PlanToken, type PlanTokens, runProblem, spent } from "#plan-guard";
import { onePlan, planWith } from "./plan-with.ts";

const plan = planWith(onePlan);
const now = Date.UTC(2026, 0, 1);
const approval: PlanToken = {
  planId: "1",
  digest: plan.digest,
  token: "t".repeat(43),
  expires: new Date(now + 600_000),
};
const approved: PlanTokens = { approval, run: undefined };

/** @param allowed what may be sent */
const rows: readonly {
  readonly name: string;
  readonly plan?: Partial<Plan>;
  readonly approval?: Partial<PlanToken>;
  readonly tokens?: PlanTokens;
  readonly allowed: readonly string[];
}[] = [
  { name: "an approved plan", allowed: ["execute"] },
  { name: "text that is not a plan", plan: { planJson: "[]", digest: sha256Hex("[]") }, allowed: [] },
  { name: "a digest of another text", plan: { planJson: onePlan.replace("true", "fals") }, allowed: [] },
  ...(["draft", "executing", "done", "unknown"] as const).map((state) => ({
    name: state,
    plan: { state },
    allowed: [],
  })),
  { name: "no approval", tokens: { approval: undefined, run: undefined }, allowed: [] },
  { name: "an approval of another plan", approval: { planId: "2" }, allowed: [] },
  { name: "an approval of another digest", approval: { digest: sha256Hex("x") }, allowed: [] },
  { name: "no token", approval: { token: "" }, allowed: [] },
  { name: "a short token", approval: { token: "abc" }, allowed: [] },
  { name: "an approval that was used", tokens: spent(approved), allowed: [] },
  { name: "an approval that expired", approval: { expires: new Date(now) }, allowed: [] },
  {
    name: "the run of an approval that expired since",
    plan: { state: "verifying" },
    tokens: spent({ ...approved, approval: { ...approval, expires: new Date(now) } }),
    allowed: ["verify"],
  },
  { name: "a run that another opened", plan: { state: "verifying" }, allowed: [] },
];

test.each(rows)("$name: $allowed", ({ allowed, ...row }) => {
  const tokens = row.tokens ?? { ...approved, approval: { ...approval, ...row.approval } };
  const may = (["execute", "verify"] as const).filter(
    (act) => runProblem(act, { ...plan, ...row.plan }, { ...tokens, now }) === undefined,
  );
  expect(may).toEqual(allowed);
});
