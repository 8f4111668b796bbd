import { homedir, platform } from "node:os";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import type { SandboxMode } from "@gennai/machine/sandbox/sandbox";
import { openSandbox } from "@gennai/machine/shell/open-sandbox";

/** Whether a server started here with this mode would have a sandbox. Rejects with `SandboxRequired` as that server would. */
export async function isSandboxedHere(
  mode: SandboxMode,
  options: { readonly stateDir: string; readonly environment: Readonly<Record<string, string | undefined>> },
): Promise<boolean> {
  if (mode === "off") return false;
  const { environment } = options;
  await using sandbox = await openSandbox({
    mode,
    stateDir: await prepareStateDirectory(options.stateDir),
    home: homedir(),
    environment: commandEnvironment(environment),
    platform: platform(),
    privateDirectories: [userConfigDir(environment)],
  });
  return sandbox.state === "sandboxed";
}
