import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { undoChangeSet } from "@gennai/sessions/manager/undo";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { startServer } from "#serve";
import { never, refusalOf } from "../../../sessions/test/plans/plan-fixture.ts";
import { killedServerOptions } from "./killed-server.ts";

test("kill -9 in the middle of a run: the token stays spent, the run reads interrupted, later steps did not run", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryRepository({ "README.md": "# Test\n" });
  await workspace.git("checkout", "--quiet", "-b", "work");
  const script = fileURLToPath(new URL("killed-server.ts", import.meta.url));
  const child = spawn(process.execPath, [script, state.root, workspace.root], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => void (output += chunk.toString("utf8")));
  await expect.poll(() => existsSync(workspace.path("begun")), { timeout: 15_000 }).toBe(true);
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  const [sessionId = "", planId = "", digest = "", token = ""] = output.trim().split(" ");

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
