import { realpath, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";

/** The real absolute path of the workspace: the given one, else the working directory. Throws `CliError`. */
export async function resolveWorkspace(named: string | undefined, console: Console): Promise<string> {
  const path = resolve(console.directory, named ?? ".");
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) {
    throw usageError(
      `${path} is ${found === undefined ? "not there" : "no directory"}.`,
      "Name the directory to work in with --workspace, or change into it first.",
    );
  }
  return realpath(path);
}

/** The one option of many commands. */
export interface WorkspaceFlags {
  readonly workspace?: string;
}

/** Where a command works that asks no server. Throws `CliError`. */
export async function placeHere(flags: WorkspaceFlags, console: Console) {
  const workspaceRoot = await resolveWorkspace(flags.workspace, console);
  return { workspaceRoot, stateDir: defaultStateDir(console.environment) };
}
