import { pathToFileURL } from "node:url";
import { settingDefaults } from "@gennai/protocol/model/session-settings";
import { startServer } from "#serve";
import type { ServerOptions } from "#tenants/server-options";
import { ann, command, never, seedPlan, write } from "../../../sessions/test/plans/plan-fixture.ts";

/** A server that is killed while it runs a plan, and the one that finds what it left. */
export function killedServerOptions(stateDir: string, workspace: string): ServerOptions {
  return {
    version: "0.0.0-test",
    token: "t".repeat(43),
    stateDir,
    workspace,
    announce: false,
    sandbox: "off",
    address: { type: "tcp", host: "127.0.0.1", port: 0 },
    environment: process.env,
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    defaultSettings: { ...settingDefaults, interactive: false },
  };
}

/** Prints session, plan, digest and token, then runs a plan that does not end by itself. */
async function main(stateDir: string, workspace: string): Promise<void> {
  const { manager, plans } = await startServer(killedServerOptions(stateDir, workspace));
  const session = await manager.start(manager.services.defaultSettings, "");
  const text = seedPlan([
    { id: "first", actions: [write("first.txt", "first\n")] },
    { id: "long", actions: [command("touch begun; sleep 15")] },
    { id: "late", actions: [write("late.txt", "late\n")] },
  ]);
  const { plan } = await plans.submit(session, text, { strict: true, contract: false });
  if (plan === undefined) throw new Error("No plan.");
  await plans.preview(session, plan.planId);
  const { approvalToken } = await plans.approve(session, plan.planId, plan.digest, ann);
  process.stdout.write(`${session.id} ${plan.planId} ${plan.digest} ${approvalToken}\n`);
  await plans.execute(session, plan.planId, plan.digest, approvalToken, never);
}

const [, script = "", stateDir, workspace] = process.argv;
if (stateDir !== undefined && workspace !== undefined && import.meta.url === pathToFileURL(script).href) {
  await main(stateDir, workspace);
}
