import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { validateRinaOutput } from "@gennai/protocol/plan/validate-rina-output";
import {
  never,
  type PlanBench,
  planBench,
  refusalOf,
  seedPlan,
  write,
} from "../../packages/sessions/test/plans/plan-fixture.ts";
import { type Check, check } from "./corpus-case.ts";

/** A plan that writes `a.txt`. */
export const simple = seedPlan([{ id: "a", actions: [write("a.txt", "a\n")], verify: ["cat a.txt"] }]);

export type Plan = Awaited<ReturnType<PlanBench["approved"]>>;

/** Runs a check on an approved plan that writes `a.txt`; the file must not be there afterwards. */
export const withApproved = (
  work: (bench: PlanBench, plan: Plan) => Promise<void>,
  options: { readonly text?: string } = {},
): Check =>
  check(async () => {
    await using bench = await planBench();
    await work(bench, await bench.approved(options.text ?? simple));
    assert.equal(existsSync(bench.server.workspace.path("a.txt")), false);
  });

/** How a run of it ends: `ok`, or why it was refused. */
export async function executing(bench: PlanBench, plan: Plan, change: Partial<Plan> = {}): Promise<string> {
  const { planId, digest, token } = { ...plan, ...change };
  return refusalOf(bench.plans().execute(await bench.session(), planId, digest, token, never));
}

/** No plan, and refused at once. */
export function expectInvalid(...texts: readonly string[]): void {
  for (const text of texts) {
    const started = performance.now();
    assert.equal(validateRinaOutput(text, { strict: true }).kind, "invalid", text.slice(0, 300));
    assert.equal(validateRinaOutput(text).kind, "invalid", text.slice(0, 300));
    assert.ok(performance.now() - started < 5_000, `${text.length} characters took too long`);
  }
}
