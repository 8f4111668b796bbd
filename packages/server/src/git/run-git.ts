import { execFile } from "node:child_process";

export interface GitResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** There is no git to run. */
export class GitMissingError extends Error {
  override readonly name = "GitMissingError";
}

/**
 * Runs git without the programs a repository's own configuration could start: no hooks, no file system monitor, no pager,
 * no editor, no question at the terminal. Rejects only when git cannot be run or the signal aborts.
 */
export function git(
  args: readonly string[],
  options: { readonly directory: string; readonly signal?: AbortSignal },
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    execFile(
      "git",
      [...scrubbed, ...args],
      {
        cwd: options.directory,
        env: gitEnvironment(),
        maxBuffer: 16 * 1024 * 1024,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      },
      (error, stdout, stderr) => {
        if (error === null) resolve({ code: 0, stdout, stderr });
        else if (typeof error.code === "number") resolve({ code: error.code, stdout, stderr });
        else reject(isMissing(error) ? new GitMissingError("git is not installed.") : error);
      },
    );
  });
}

export const scrubbed: readonly string[] = [
  "--no-pager",
  ...["core.hooksPath=/dev/null", "core.fsmonitor=false", "core.editor=true", "core.askPass="].flatMap((setting) => [
    "-c",
    setting,
  ]),
];

/** The user's environment without what points git at another repository or configuration. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  return { ...Object.fromEntries(kept), GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
}

function isMissing(error: { readonly code?: unknown }): boolean {
  return error.code === "ENOENT";
}
