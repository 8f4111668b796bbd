import { startServer } from "#serve";
import { ann, command, never, seedPlan, write } from "../../../sessions/test/plans/plan-fixture.ts";
import { killedServerOptions } from "./killed-server-options.ts";

// A server that runs a plan, and is killed by the test: prints session, plan, digest and token.
const [, , stateDir = "", workspace = ""] = process.argv;
const { manager, plans } = await startServer(killedServerOptions(stateDir, workspace));
const session = await manager.start(manager.services.defaultSettings, "");
const text = seedPlan([
  { id: "first", actions: [write("first.txt", "first\n")] },
  // Ends with the workspace.
  { id: "long", actions: [command("touch begun; while test -e begun; do sleep 0.2; done")] },
  { id: "late", actions: [write("late.txt", "late\n")] },
]);
const { plan } = await plans.submit(session, text, { strict: true, contract: false });
if (plan === undefined) throw new Error("No plan.");
await plans.preview(session, plan.planId);
const { approvalToken } = await plans.approve(session, plan.planId, plan.digest, ann);
process.stdout.write(`${session.id} ${plan.planId} ${plan.digest} ${approvalToken}\n`);
await plans.execute(session, plan.planId, plan.digest, approvalToken, never);
