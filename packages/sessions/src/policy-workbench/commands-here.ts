import { homedir, platform } from "node:os";
import type { Outside } from "@gennai/egress/network/way-out";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { ServiceError } from "@gennai/machine/service-error";
import type { CommandsMode } from "@gennai/protocol/commands-mode";
import { openSandbox } from "@gennai/shell/open-sandbox";
import { Stages } from "@gennai/shell/stages/stages";

/** How a server started here would run commands. */
export interface CommandsHere extends AsyncDisposable {
  /** Absent if no command is staged. */
  readonly stages: Stages | undefined;
  /** Why the workspace's commands are not staged; undefined if they are. */
  readonly unstaged: string | undefined;
}

/** Rejects with `SandboxRequired` like that server. @param workspaceRoot real path */
export async function commandsHere(
  workspaceRoot: string,
  options: {
    readonly commands: CommandsMode;
    readonly stateDir: string;
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly outside?: Outside | undefined;
  },
): Promise<CommandsHere> {
  const { commands, environment, outside } = options;
  await using opened = new AsyncDisposableStack();
  const stateDir = commands === "ask" ? options.stateDir : await prepareStateDirectory(options.stateDir);
  const home = homedir();
  const sandbox = opened.use(
    await openSandbox({
      commands,
      stateDir,
      home,
      environment: commandEnvironment(environment),
      platform: platform(),
      privateDirectories: [userConfigDir(environment)],
    }),
  );
  const without = (unstaged: string): CommandsHere => {
    const owned = opened.move();
    return { stages: undefined, unstaged, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
  };
  if (commands === "ask") return without("it was switched off (--commands ask)");
  if (sandbox.state === "unsandboxed") return without(`there is no sandbox: ${sandbox.reason}`);
  const stages = opened.use(new Stages({ shell: sandbox.shell, stateDir, home, mode: commands, outside }));
  const support = await stages.support(workspaceRoot);
  if (support.state === "unavailable") {
    const { reason, advice } = support;
    if (commands === "auto") return without(`${reason} ${advice}`);
    throw new ServiceError("failed_precondition", `No command would run here: ${reason}`, { hint: advice });
  }
  const owned = opened.move();
  return { stages, unstaged: undefined, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}
