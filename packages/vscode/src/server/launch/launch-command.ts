import { isAbsolute } from "node:path";
import type { CommandsMode } from "@gennai/protocol/commands-mode";

export interface LaunchChoice {
  readonly port: number;
  readonly workspace: string;
  readonly commands: CommandsMode;
  readonly protectedBranches: readonly string[];
}

export interface LaunchCommand {
  readonly program: string;
  readonly args: readonly string[];
  /** False: the user's shell finds the program by its name. */
  readonly isPath: boolean;
}

const branchName = /^[A-Za-z0-9][A-Za-z0-9._/*-]*$/;

/** Leaves out names of branches that could be options or shell words. */
export function protectableBranches(branches: readonly string[]): readonly string[] {
  return branches.filter((branch) => branchName.test(branch));
}

/** Starts the user's own server. A script is run by Node. @param program absolute path, or a name that the shell finds */
export function launchCommand(program: string, choice: LaunchChoice): LaunchCommand {
  const args = serveArguments(choice);
  if (!/\.[cm]?js$/.test(program)) return { program, args, isPath: isAbsolute(program) };
  return { program: "node", args: [program, ...args], isPath: false };
}

/** Minutes that our server stays after the last window. */
const idleMinutes = 10;

/** Arguments for the server in the extension: on any free port, since windows find it by its announcement. */
export function broughtArguments(choice: Omit<LaunchChoice, "port">): readonly string[] {
  return [...serveArguments({ ...choice, port: 0 }), "--shared", "--quit-when-idle", String(idleMinutes)];
}

function serveArguments({ port, workspace, commands, protectedBranches }: LaunchChoice): readonly string[] {
  const args = ["serve", "--port", String(port), "--workspace", workspace];
  if (commands !== "auto") args.push("--commands", commands);
  for (const branch of protectableBranches(protectedBranches)) args.push("--protect", branch);
  return args;
}
