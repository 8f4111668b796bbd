import type { AgreedControl } from "@gennai/governance/policies/files/agreed-control";
import type { ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { errorMessage } from "@gennai/protocol/error-message";
import type { ControlRun, ControlWatch } from "../control-watch/control-watch.ts";
import { describePutBack } from "../control-watch/put-back/put-back.ts";
import { readingGitEnvironment } from "../git/run/start-git.ts";
import type { CommandLimits } from "../process/group/command-limits.ts";
import { CommandNotStarted, type CommandRun, type HeldDirectory, runCommand } from "../process/run-command.ts";
import { type ShellSandbox, sandboxFailure } from "../sandbox/sandboxed-shell.ts";

export interface ShellCommand {
  readonly text: string;
  readonly cwd: HeldDirectory;
  readonly timeoutMs: number;
  /** Proven to only read: in a sandbox, the workspace is read-only for it. */
  readonly readsOnly: boolean;
  /** It only reads, and starts no other programs, so nothing needs to be hidden from it. */
  readonly startsNothing: boolean;
  /** What it may change of the files that control tools. */
  readonly agreed: AgreedControl;
}

export interface ShellSurroundings {
  /** Real path of the workspace. */
  readonly workspaceRoot: string;
  /** The whole environment of the command. */
  readonly environment: Readonly<Record<string, string>>;
  /**
   * Program (absolute) and arguments that run a shell command: the shell itself, or a sandbox around it. Throws `ToolFailure`
   * (`tool_unavailable`) if there is none.
   */
  shellArguments(command: string): readonly string[] | Promise<readonly string[]>;
  /** If set, every command runs in it and `shellArguments` is not used. */
  readonly sandbox?: Pick<ShellSandbox, "prepare"> | undefined;
  /** What each command may take of the machine; limits that are left out have their usual values. */
  readonly limits?: Partial<CommandLimits>;
  readonly controlWatch: Pick<ControlWatch, "begin" | "turn">;
  /** Globs of further branches, besides the usual ones, that only git may move, and only as the command says. */
  readonly protectedBranches?: readonly string[];
}

/** A command that ran. */
export interface ShellRun {
  readonly run: CommandRun;
  /** Notes for readers of its output. */
  readonly notes: readonly string[];
  /** Changes without agreement, which were undone. */
  readonly putBack: NonNullable<ToolOutcome["putBack"]>;
}

/**
 * Runs a shell command on this machine, in the sandbox if there is one. Files that control tools and that it changed without
 * agreement are restored afterwards. Rejects with `ToolFailure` if the command did not start.
 */
export async function runShellCommand(
  command: ShellCommand,
  surroundings: ShellSurroundings,
  options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
): Promise<ShellRun> {
  const { text, cwd, timeoutMs, readsOnly, startsNothing, agreed } = command;
  const { workspaceRoot, environment } = surroundings;
  const boxed = surroundings.sandbox?.prepare(text, { workspaceRoot, cwd: cwd.path, readsOnly });
  const isWatched = !startsNothing && (boxed === undefined || !readsOnly);
  // Two commands at the same time would each undo what the other was allowed to change.
  using _turn =
    isWatched && boxed === undefined ? await surroundings.controlWatch.turn(workspaceRoot, options) : undefined;
  let watched: ControlRun | undefined;
  try {
    // If the workspace is read-only for it, or it cannot write, nothing needs to be watched.
    if (isWatched) {
      const { protectedBranches } = surroundings;
      const untouchable = boxed?.untouchable ?? [];
      watched = begin(surroundings, { workspaceRoot, agreed, untouchable, timeoutMs, protectedBranches });
    }
    const argv = boxed?.argv ?? (await surroundings.shellArguments(text));
    const { limits = {} } = surroundings;
    // Nobody was asked about it, so programs that the repository chooses must not run.
    const quiet =
      boxed === undefined && readsOnly && !startsNothing ? await readingGitEnvironment(cwd.path, environment) : {};
    const env = { ...environment, ...quiet };
    const command = { argv, opens: boxed?.opens, cwd, env, timeoutMs, limits, holdsAll: boxed !== undefined };
    const run = await runCommand(command, options);
    const notes = [...(boxed?.finish() ?? [])];
    if (boxed !== undefined) refuseUnstarted(run);
    const putBack = watched?.end() ?? { files: [], keptIn: "" };
    if (putBack.files.length > 0) notes.push(`[${describePutBack(putBack)}]`);
    return { run, notes, putBack };
  } catch (error) {
    if (!(error instanceof CommandNotStarted)) throw error;
    throw new ToolFailure(error.code, error.message, {
      retryable: error.code === "directory_changed",
      cause: error,
    });
  } finally {
    boxed?.finish();
    watched?.end();
  }
}

/** What cannot be watched cannot be restored either: then nothing runs. */
function begin({ controlWatch }: ShellSurroundings, command: Parameters<ControlWatch["begin"]>[0]): ControlRun {
  try {
    return controlWatch.begin(command);
  } catch (error) {
    const reason = errorMessage(error);
    throw new ToolFailure(
      "workspace_not_watched",
      `The command did not run, because the workspace's control files cannot be looked after: ${reason}`,
      {
        failureClass: "tool_unavailable",
        hint: "Tell the user.",
        cause: error,
      },
    );
  }
}

/** If a sandbox cannot start, the command does not run without it. */
function refuseUnstarted(run: CommandRun): void {
  const failure = sandboxFailure(run);
  if (failure === undefined) return;
  throw new ToolFailure("sandbox_unavailable", `The sandbox could not start, so the command did not run: ${failure}`, {
    failureClass: "tool_unavailable",
    hint: "Tell the user; commands never run outside the sandbox instead.",
  });
}
