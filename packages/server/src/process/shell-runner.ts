import { ToolFailure } from "@gennai/governance/tool-error";
import { type ShellSandbox, sandboxFailure } from "../sandbox/sandboxed-shell.ts";
import { findShell } from "./find-shell.ts";
import { CommandNotStarted, type CommandRun, type HeldDirectory, runCommand } from "./run-command.ts";

export interface ShellCommand {
  readonly text: string;
  readonly cwd: HeldDirectory;
  readonly timeoutMs: number;
  /** It is proven to read: in a sandbox, the workspace is read-only for it. */
  readonly readsOnly: boolean;
}

export interface ShellSurroundings {
  /** Real path of the workspace. */
  readonly workspaceRoot: string;
  /** Everything the command finds in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Program (absolute) and arguments that run a shell command: the shell itself, or a sandbox around it.
   * Throws `ToolFailure` (`tool_unavailable`) where there is none.
   */
  shellArguments(command: string): readonly string[] | Promise<readonly string[]>;
  /** Where this is set, every command runs in it and `shellArguments` is not used. */
  readonly sandbox?: Pick<ShellSandbox, "prepare"> | undefined;
}

/**
 * Runs a shell command on this machine, in the sandbox where there is one. Gives what it printed, and notes for whoever reads
 * it. Throws `ToolFailure` for a command that did not start.
 */
export async function runShellCommand(
  command: ShellCommand,
  surroundings: ShellSurroundings,
  options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
): Promise<{ readonly run: CommandRun; readonly notes: readonly string[] }> {
  const { text, cwd, timeoutMs, readsOnly } = command;
  const { workspaceRoot, environment } = surroundings;
  const boxed = surroundings.sandbox?.prepare(text, { workspaceRoot, cwd: cwd.path, readsOnly });
  try {
    const argv = boxed?.argv ?? (await surroundings.shellArguments(text));
    const run = await runCommand({ argv, cwd, env: environment, timeoutMs }, options);
    const notes = boxed?.finish() ?? [];
    if (boxed !== undefined) refuseUnstarted(run);
    return { run, notes };
  } catch (error) {
    if (!(error instanceof CommandNotStarted)) throw error;
    throw new ToolFailure(error.code, error.message, {
      retryable: error.code === "directory_changed",
      cause: error,
    });
  } finally {
    boxed?.finish();
  }
}

/** `bash -c`, without anybody's start-up files. Throws `ToolFailure` `tool_unavailable`. */
export function plainShell(command: string): readonly string[] {
  const shell = findShell();
  if (shell !== undefined) return [shell, "-c", command];
  throw new ToolFailure("tool_unavailable", "There is no shell on this machine, so no command can run.", {
    failureClass: "tool_unavailable",
    hint: "Use RunInTerminal, which runs in the user's editor.",
  });
}

/** A sandbox that cannot start is no reason to run the command without it. */
function refuseUnstarted(run: CommandRun): void {
  const failure = sandboxFailure(run);
  if (failure === undefined) return;
  throw new ToolFailure("sandbox_unavailable", `The sandbox could not start, so the command did not run: ${failure}`, {
    failureClass: "tool_unavailable",
    hint: "Tell the user; commands never run outside the sandbox instead.",
  });
}
