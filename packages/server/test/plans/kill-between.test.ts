import { existsSync } from "node:fs";
import { undoChangeSet } from "@gennai/sessions/manager/undo";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { startServer } from "#serve";
import { never, refusalOf } from "../../../sessions/test/plans/plan-fixture.ts";
import { killedRun } from "./killed-run.ts";
import { killedServerOptions } from "./killed-server-options.ts";

test("kill -9 in the middle of a run: the token stays spent, the run reads interrupted, later steps did not run", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryRepository({ "README.md": "# Test\n" });
  await workspace.git("checkout", "--quiet", "-b", "work");
  const { sessionId, planId, digest, token } = await killedRun(state.root, workspace.root);

  await using server = await startServer(killedServerOptions(state.root, workspace.root));
  const session = await server.manager.get(sessionId);
  const plan = await server.plans.get(session, planId);
  expect(plan.state).toBe("interrupted");
  expect(plan.steps.map((step) => step.state)).toEqual(["executed", "failed", "pending"]);
  expect(await refusalOf(server.plans.execute(session, planId, digest, token, never))).toBe("token_spent");
  expect(existsSync(workspace.path("late.txt"))).toBe(false);
  expect(plan.remediation).toContain("first.txt");
  await undoChangeSet(session, plan.runTurnId);
  expect(existsSync(workspace.path("first.txt"))).toBe(false);
});
