import { readingGitEnvironment } from "@gennai/git/run/start-git";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { CommandLimits } from "@gennai/machine/process/command-limits";
import {
  CommandNotStarted,
  type CommandRun,
  type HeldDirectory,
  runCommand,
} from "@gennai/machine/process/run-command";

export interface ShellCommand {
  readonly text: string;
  readonly cwd: HeldDirectory;
  readonly timeoutMs: number;
  /** Proven to only read, so nobody was asked about it. */
  readonly readsOnly: boolean;
  /** It only reads, and starts no other programs. */
  readonly startsNothing: boolean;
}

export interface ShellSurroundings {
  /** The whole environment of the command. */
  readonly environment: Readonly<Record<string, string>>;
  /** Program (absolute) and arguments that run a shell command. Throws `ToolFailure` (`tool_unavailable`) if there is none. */
  shellArguments(command: string): readonly string[] | Promise<readonly string[]>;
  /** What each command may take of the machine; limits that are left out have their usual values. */
  readonly limits?: Partial<CommandLimits>;
}

/**
 * Runs a shell command on this machine itself, with the user's rights: one that only reads, or that a person let run. What it
 * changed is not known. Rejects with `ToolFailure` if it did not start.
 */
export async function runShellCommand(
  { text, cwd, timeoutMs, readsOnly, startsNothing }: ShellCommand,
  { environment, limits = {}, shellArguments }: ShellSurroundings,
  options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
): Promise<CommandRun> {
  const argv = await shellArguments(text);
  // Nobody was asked about it, so programs that the repository chooses must not run.
  const quiet = readsOnly && !startsNothing ? await readingGitEnvironment(cwd.path, environment) : {};
  try {
    return await runCommand({ argv, cwd, env: { ...environment, ...quiet }, timeoutMs, limits }, options);
  } catch (error) {
    if (!(error instanceof CommandNotStarted)) throw error;
    throw new ToolFailure(error.code, error.message, { retryable: error.code === "directory_changed", cause: error });
  }
}
