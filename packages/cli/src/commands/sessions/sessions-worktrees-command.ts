import { listSessionWorktrees, pruneSessionWorktrees } from "@gennai/git/session-worktree";
import type { Console } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { listed, type Said } from "../command-host.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";

export interface SessionsWorktreesFlags extends WorkspaceFlags {
  readonly prune?: boolean;
}

/** `gennai sessions worktrees`: lists the working trees that `gennai run --worktree` made. */
export async function sessionsWorktreesCommand(flags: SessionsWorktreesFlags, console: Console): Promise<Said> {
  const { workspaceRoot: directory, stateDir } = await placeHere(flags, console);
  const { signal } = new AbortController();
  if (flags.prune !== true) {
    const found = await listSessionWorktrees(directory, signal);
    const line = ({ path, branch }: (typeof found)[number]) => `${terminalSafe(path)}  ${terminalSafe(branch)}`;
    return listed(found, line, "No working trees of sessions.");
  }
  const rows = await pruneSessionWorktrees(directory, { stateDir, signal });
  return { rows, text: rows.map(({ state, path }) => `${words[state]}: ${terminalSafe(path)}\n`).join("") };
}

const words = {
  removed: "removed",
  "in-use": "kept, a turn runs there",
  "has-changes": "kept, it has changes that are not committed",
  "kept-by-git": "kept, git would not remove it",
} as const;
