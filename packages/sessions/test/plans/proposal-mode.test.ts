import { existsSync } from "node:fs";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";
import { expect, test } from "vitest";
import { ann, never, planBench, refusalOf, seedPlan, write } from "./plan-fixture.ts";

const plan = seedPlan([{ id: "a", actions: [write("a.txt", "a\n")], verify: ["cat a.txt"] }]);

test("a plan written in Proposal Mode is kept, refused before anybody approves it, and runs in Branch Mode", async () => {
  await using bench = await planBench({ settings: { editingMode: "proposal" } });
  const { planId, digest } = await bench.submit(plan);
  const session = await bench.session();
  const plans = bench.plans();
  await expect(plans.preview(session, planId)).rejects.toMatchObject({
    code: "failed_precondition",
    reason: "proposal_mode",
    hint: "Switch the session to Branch Mode, then preview the plan.",
  });
  expect((await plans.get(session, planId)).state).toBe("draft");

  const mode = (editingMode: EditingMode) => session.changeSettings({ ...session.settings, editingMode });
  await mode("branch");
  const { actions } = await plans.preview(session, planId);
  expect(actions.map(({ verdict }) => verdict)).not.toContain("deny");
  await mode("proposal");
  expect(await refusalOf(plans.approve(session, planId, digest, ann))).toBe("proposal_mode");
  await mode("branch");
  const { approvalToken } = await plans.approve(session, planId, digest, ann);
  await mode("proposal");
  const execute = () => plans.execute(session, planId, digest, approvalToken, never);
  expect(await refusalOf(execute())).toBe("proposal_mode");
  expect(existsSync(bench.server.workspace.path("a.txt"))).toBe(false);
  await mode("branch");
  await execute();
  await mode("proposal");
  const verify = () => plans.verify(session, planId, digest, approvalToken, never);
  expect(await refusalOf(verify())).toBe("proposal_mode");
  await mode("branch");
  expect((await verify()).plan.state).toBe("done");
});
