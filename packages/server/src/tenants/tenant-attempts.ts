import { homedir } from "node:os";
import type { ServerLog } from "@gennai/machine/server-log";
import { ServerAttempts } from "@gennai/sessions/attempts/server-attempts";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { PolicyWorkbench } from "@gennai/sessions/policy-workbench/policy-workbench";
import type { GovernanceRegistry } from "@gennai/sessions/session/workspace-governance";
import type { ServerOptions } from "./server-options.ts";

/** The attempts of a tenant's sessions; what servers that died left of them is gone when it resolves. */
export async function tenantAttempts({
  manager,
  governance,
  stateDir,
  options,
  log,
}: {
  readonly manager: SessionManager;
  readonly governance: GovernanceRegistry;
  /** The tenant's own. */
  readonly stateDir: string;
  readonly options: Pick<ServerOptions, "environment" | "version" | "outside">;
  readonly log: Pick<ServerLog, "warn">;
}): Promise<ServerAttempts> {
  const configDir = options.environment["XDG_CONFIG_HOME"];
  const attempts = new ServerAttempts({
    manager,
    stateDir,
    async leave(workspace) {
      await governance.release(workspace);
      await manager.services.stages?.forget(workspace.root);
    },
    openWorkbench: (workspace) =>
      PolicyWorkbench.open({
        workspace,
        stateDir,
        home: options.environment["HOME"] ?? homedir(),
        commands: "staged",
        environment: options.environment,
        toolVersion: options.version,
        outside: options.outside,
        onWarning: (text) => log.warn(text),
        ...(configDir?.startsWith("/") === true ? { configDir } : {}),
      }),
  });
  await attempts.recover(Date.now());
  return attempts;
}
