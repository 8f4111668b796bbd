import { homedir } from "node:os";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { PolicyWorkbench } from "@gennai/sessions/policy-workbench/policy-workbench";
import type { Console } from "../terminal/console.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { version } from "../terminal/version.ts";

/** Opens what stages and judges a person's own work in a workspace. Rejects if nothing can be staged. */
export function openStagingWorkbench(workspace: string, console: Console): Promise<PolicyWorkbench> {
  const { environment } = console;
  const configDir = environment["XDG_CONFIG_HOME"];
  return PolicyWorkbench.open({
    workspace,
    stateDir: defaultStateDir(environment),
    home: environment["HOME"] ?? homedir(),
    commands: "staged",
    environment,
    toolVersion: version,
    onWarning: (text) => void console.errors.write(`warning: ${terminalSafe(text)}\n`),
    ...(configDir?.startsWith("/") === true ? { configDir } : {}),
  });
}
