import { listSessionWorktrees, pruneSessionWorktrees } from "@gennai/git/session-worktree";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import type { Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";

export interface SessionsWorktreesFlags {
  readonly workspace?: string;
  readonly prune?: boolean;
  readonly json?: boolean;
}

/** `gennai sessions worktrees`: lists the working trees that `gennai run --worktree` made. */
export async function sessionsWorktreesCommand(flags: SessionsWorktreesFlags, console: Console): Promise<ExitCode> {
  const directory = await resolveWorkspace(flags.workspace, console);
  const { signal } = new AbortController();
  if (flags.prune !== true) {
    const found = await listSessionWorktrees(directory, signal);
    for (const each of found) {
      console.output.write(
        flags.json === true
          ? `${JSON.stringify(each)}\n`
          : `${terminalSafe(each.path)}  ${terminalSafe(each.branch)}\n`,
      );
    }
    if (found.length === 0 && flags.json !== true) console.output.write("No working trees of sessions.\n");
    return exitCode.ok;
  }
  const stateDir = defaultStateDir(console.environment);
  for (const each of await pruneSessionWorktrees(directory, { stateDir, signal })) {
    console.output.write(
      flags.json === true ? `${JSON.stringify(each)}\n` : `${words[each.state]}: ${terminalSafe(each.path)}\n`,
    );
  }
  return exitCode.ok;
}

const words = {
  removed: "removed",
  "in-use": "kept, a turn runs there",
  "has-changes": "kept, it has changes that are not committed",
  "kept-by-git": "kept, git would not remove it",
} as const;
