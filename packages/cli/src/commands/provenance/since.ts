import { git } from "@gennai/git/run/run-git";
import { usageError } from "../../terminal/cli-error.ts";

/** Milliseconds since the epoch of a date, or of a commit of the workspace. Throws `CliError` for what is neither. */
export async function momentOf(when: string, workspaceRoot: string): Promise<number> {
  if (/^\d{4}-\d{2}-\d{2}/.test(when) && !Number.isNaN(Date.parse(when))) return Date.parse(when);
  const seconds = await git(["log", "-1", "--format=%ct", "--end-of-options", when, "--"], { directory: workspaceRoot })
    .then(({ code, stdout }) => (code === 0 ? Number(stdout.trim()) : Number.NaN))
    .catch(() => Number.NaN);
  if (Number.isNaN(seconds) || seconds === 0) {
    throw usageError(
      `${JSON.stringify(when)} is not a commit, branch or tag here, and no date.`,
      "Write a date as 2026-11-01.",
    );
  }
  return seconds * 1000;
}
