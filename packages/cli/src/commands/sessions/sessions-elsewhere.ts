import { listSessionWorktrees } from "@gennai/git/session-worktree";
import { shellWords } from "@gennai/governance/command/shell-words";
import { asTyped, type Console } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";

/** Where sessions may be that a person misses in a workspace, one place a line. @param verb the command to use there */
export async function sessionsElsewhere(
  workspace: string,
  verb: "sessions" | "undo",
  { environment }: Console,
): Promise<readonly string[]> {
  const { signal } = new AbortController();
  // Where git cannot say, there is no repository, or none that may be read.
  const trees = await listSessionWorktrees(workspace, signal).catch(() => []);
  const others = trees.filter(({ path }) => path !== workspace);
  return [
    ...others.map(({ path }) => `In a session's working tree: gennai ${verb} --workspace ${shellWords([path])}`),
    "Moved or renamed? gennai sessions --all names the former path; undo works once the project is back there.",
  ].map((line) => terminalSafe(asTyped(line, environment)));
}
