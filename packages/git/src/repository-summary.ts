import { git } from "./run/run-git.ts";

const most = { changes: 20, commits: 5, line: 120 } as const;

/** Milliseconds: a session's first turn waits for it. */
const within = 10_000;

/**
 * A working tree in a few lines, as git writes them: `main...origin/main [ahead 1]`, ` M src/a.ts`, `1a2b3c4 Mend the roof`. Undefined
 * where git knows none, or takes too long. Changes nothing.
 */
export async function repositorySummary(directory: string) {
  const signal = AbortSignal.timeout(within);
  const lines = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await git(args, { directory, signal });
    return stdout.split("\0").slice(0, -1).map(shown);
  };
  try {
    const [[branch, ...changes], commits] = await Promise.all([
      lines("status", "--porcelain=v1", "--branch", "-z", "--no-renames"),
      lines("log", "-z", `--max-count=${most.commits}`, "--format=%h %s"),
    ]);
    if (branch === undefined) return undefined;
    return {
      branch: branch.replace(/^## /, ""),
      changes: changes.slice(0, most.changes),
      moreChanges: Math.max(0, changes.length - most.changes),
      commits,
    };
  } catch {
    return undefined;
  }
}

/** One short line. */
function shown(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\u2028\u2029]/gu, "?")
    .slice(0, most.line)
    .toWellFormed();
}
