import { userConfigDir } from "@gennai/machine/config/config-directory";
import { requireServerConfig } from "@gennai/machine/config/server-config";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { heldWorkspaceId } from "./client-workspace-id.ts";
import { DiskWorkspace } from "./disk-workspace.ts";
import { recoverChanges } from "./stages/recover-changes.ts";

/**
 * Holds a directory of this machine, with everything that its commands need. Rejects with `WorkspaceError`, `BadServerConfig`,
 * `UnsafeStateDirectory` or `UnsafeFileError`.
 */
export async function openDiskWorkspace(options: {
  /** Real absolute path. */
  readonly root: string;
  readonly stateDir: string;
  /** Environment of this process; commands get the part that `commandEnvironment` lets through. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}): Promise<DiskWorkspace> {
  const { root } = options;
  const stateDir = await prepareStateDirectory(options.stateDir);
  await recoverChanges(stateDir);
  const configDir = userConfigDir(options.environment);
  const { commandLimits: limits, commandVariables } = await requireServerConfig(configDir);
  return new DiskWorkspace({
    root,
    stateDir,
    environment: commandEnvironment(options.environment, commandVariables),
    limits,
    id: await heldWorkspaceId(stateDir, root),
    ownDirectories: [stateDir, configDir],
  });
}
