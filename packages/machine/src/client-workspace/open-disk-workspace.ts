import { homedir, platform } from "node:os";
import { userConfigDir } from "../config/config-directory.ts";
import { requireServerConfig } from "../config/server-config.ts";
import { prepareStateDirectory } from "../config/state-directory.ts";
import { ControlWatch } from "../control-watch/control-watch.ts";
import { describeRecovered } from "../control-watch/put-back/put-back.ts";
import { commandEnvironment } from "../process/environment/command-environment.ts";
import type { SandboxMode } from "../sandbox/sandbox.ts";
import { openSandbox } from "../shell/open-sandbox.ts";
import { heldWorkspaceId } from "./client-workspace-id.ts";
import { DiskWorkspace } from "./disk-workspace.ts";

/**
 * Holds a directory of this machine, with everything that its commands need. Rejects with `WorkspaceError`, `SandboxRequired`,
 * `BadServerConfig`, `UnsafeStateDirectory` or `UnsafeFileError`. Disposing removes what the sandbox keeps on disk.
 */
export async function openDiskWorkspace(options: {
  /** Real absolute path. */
  readonly root: string;
  readonly stateDir: string;
  readonly sandbox: SandboxMode;
  /** Environment of this process; commands get the part that `commandEnvironment` lets through. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Told what interrupted commands have left. */
  warn(text: string): void;
}): Promise<{ readonly workspace: DiskWorkspace } & AsyncDisposable> {
  const { root } = options;
  const stateDir = await prepareStateDirectory(options.stateDir);
  const configDir = userConfigDir(options.environment);
  const { commandLimits: limits, commandVariables } = await requireServerConfig(configDir);
  const environment = commandEnvironment(options.environment, commandVariables);
  const sandbox = await openSandbox({
    mode: options.sandbox,
    stateDir,
    environment,
    home: homedir(),
    platform: platform(),
    privateDirectories: [configDir],
  });
  const { watch: controlWatch, recovered } = ControlWatch.open({ stateDir, home: homedir() });
  for (const each of recovered) options.warn(describeRecovered(each));
  const end = async (): Promise<void> => {
    controlWatch[Symbol.dispose]();
    await sandbox[Symbol.asyncDispose]();
  };
  try {
    const workspace = new DiskWorkspace({
      root,
      stateDir,
      sandbox,
      controlWatch,
      environment,
      limits,
      id: await heldWorkspaceId(stateDir, root),
      ownDirectories: [stateDir, configDir],
    });
    return { workspace, [Symbol.asyncDispose]: end };
  } catch (error) {
    await end();
    throw error;
  }
}
