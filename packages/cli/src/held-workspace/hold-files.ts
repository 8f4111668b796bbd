import { homedir, platform } from "node:os";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { requireServerConfig } from "@gennai/machine/config/server-config";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { ControlWatch } from "@gennai/machine/control-watch/control-watch";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import type { SandboxMode } from "@gennai/machine/sandbox/sandbox";
import { openSandbox } from "@gennai/machine/shell/open-sandbox";
import type { ServerFlags } from "../connection/server-choice.ts";
import { usageError } from "../errors/cli-error.ts";
import type { Console } from "../terminal/console.ts";
import { DiskWorkspace } from "./disk-workspace.ts";
import { heldWorkspaceId } from "./held-workspace-id.ts";

/**
 * Whether this command keeps the files and the server reaches them only through it: the user's word, else so for a server
 * on another machine. Throws for a server that is started for these very files.
 */
export function holdsFiles({ server, localFiles }: ServerFlags): boolean {
  const isNamed = server !== "auto" && server !== "own";
  if (localFiles === true && !isNamed) {
    throw usageError(
      "--local-files is for a server that cannot reach them.",
      "Name it: --server https://agent.example",
    );
  }
  return localFiles ?? (isNamed && !isThisMachine(server));
}

/** Holds a directory of this machine. Disposing ends what its commands' sandbox keeps on disk. */
export async function holdFiles(
  root: string,
  options: { readonly stateDir: string; readonly sandbox: SandboxMode; readonly console: Console },
): Promise<{ readonly workspace: DiskWorkspace } & AsyncDisposable> {
  const { console } = options;
  const stateDir = await prepareStateDirectory(options.stateDir);
  const configDir = userConfigDir(console.environment);
  const { commandLimits: limits } = await requireServerConfig(configDir);
  const environment = commandEnvironment(console.environment);
  const sandbox = await openSandbox({
    mode: options.sandbox,
    stateDir,
    environment,
    home: homedir(),
    platform: platform(),
    privateDirectories: [configDir],
  });
  const { watch: controlWatch } = ControlWatch.open({ stateDir, home: homedir() });
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

function isThisMachine(url: string): boolean {
  if (!URL.canParse(url)) return true;
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
}
