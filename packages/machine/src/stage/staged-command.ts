import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type CommandLimits } from "../process/command-limits.ts";
import { newestProcess, processesSince } from "../process/process-table.ts";
import { CommandNotStarted, type CommandRun, holdDirectory, runCommand } from "../process/run-command.ts";
import { hideBelow, machineArguments, startArguments } from "../sandbox/bubblewrap-arguments.ts";
import { limitedShell } from "../sandbox/limited-shell.ts";
import { type ShellMachine, sandboxFailure } from "../sandbox/sandboxed-shell.ts";
import type { MountKeeper } from "./mount-keeper.ts";
import { NotObservable } from "./stage-error.ts";
import type { StagedRoot } from "./staging-place.ts";
import { systemProgram } from "./system-program.ts";

export interface StagedCommand {
  /** Text for the shell. */
  readonly text: string;
  /** Real path, in one of the roots. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly keepBytes?: number;
  readonly maxBytes?: number;
  readonly liveBytes?: number;
  readonly lookEveryMs?: number;
  readonly limits?: Partial<CommandLimits>;
}

interface StageParts {
  readonly roots: readonly StagedRoot[];
  readonly mounts: MountKeeper;
  readonly machine: ShellMachine;
}

/**
 * Runs a command that sees the roots' overlays at the roots' own paths, as the user itself, without a way to any network, and without any
 * other file of the user's. Resolves only when no process sees the overlays any more. Rejects with `CommandNotStarted`.
 */
export async function runOnStage(
  command: StagedCommand,
  stage: StageParts,
  options: { readonly signal: AbortSignal; readonly onOutput?: (text: string) => void },
): Promise<CommandRun> {
  const { text, cwd, environment, ...rest } = command;
  const first = newestProcess();
  const argv = [
    ...joinArguments(stage.mounts),
    ...sandboxArguments(cwd, stage),
    ...limitedShell(stage.machine.shell, text),
  ];
  const env = { ...environment, ...quietGit(environment) };
  const run = await runCommand({ argv, cwd: holdDirectory(cwd), env, ...rest }, options);
  await nobodySees(stage.mounts, first);
  const failure = sandboxFailure(run) ?? joinFailure(run);
  if (failure !== undefined) throw new CommandNotStarted("spawn_failed", `The sandbox could not start: ${failure}`);
  return run;
}

function joinArguments(mounts: MountKeeper): readonly string[] {
  const namespaces = ["--user", "--mount", ...(mounts.hasNetwork ? ["--net"] : [])];
  return [systemProgram("nsenter"), `--target=${mounts.id}`, ...namespaces, "--preserve-credentials", "--"];
}

function sandboxArguments(cwd: string, { roots, mounts, machine }: StageParts): readonly string[] {
  const { bubblewrap, features, layout, temporary, empty } = machine;
  return [
    bubblewrap,
    ...machineArguments({ layout, temporary }, features),
    // The keeper's, which is the session's.
    ...(mounts.hasNetwork ? ["--share-net"] : []),
    // As another user, git would take every file for changed, and refuse the repository of somebody else.
    ...["--uid", String(process.getuid?.() ?? 0), "--gid", String(process.getgid?.() ?? 0)],
    // What is hidden in them, the overlays hide.
    ...roots.flatMap(({ path, directory }) => ["--bind", `${directory}/merged`, path]),
    ...hideBelow(layout.readable, { layout, empty }),
    ...startArguments(cwd),
  ];
}

/** Git's own housekeeping would be effects that nobody asked for, and a signature needs a key that is not there. */
function quietGit(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const settings = [
    ["gc.auto", "0"],
    ["maintenance.auto", "false"],
    ["commit.gpgsign", "false"],
    ["tag.gpgsign", "false"],
  ] as const;
  const before = Number(environment["GIT_CONFIG_COUNT"] ?? 0);
  const quiet: Record<string, string> = {
    GIT_OPTIONAL_LOCKS: "0",
    GIT_CONFIG_COUNT: String(before + settings.length),
  };
  for (const [index, [name, value]] of settings.entries()) {
    quiet[`GIT_CONFIG_KEY_${before + index}`] = name;
    quiet[`GIT_CONFIG_VALUE_${before + index}`] = value;
  }
  return quiet;
}

/** The sandbox goes with its first process, but a moment later. */
async function nobodySees({ mountName, id }: MountKeeper, first: number): Promise<void> {
  const giveUp = performance.now() + vanishMs;
  // Twice: the last act of a process may have been to start another one.
  for (let clear = 0, pause = 1; clear < 2; ) {
    if (!startedSince(first).some((process) => process !== id && sees(process, mountName))) {
      clear += 1;
      continue;
    }
    clear = 0;
    if (performance.now() > giveUp) throw new NotObservable("Processes of the command could not be ended.");
    await sleep(pause);
    pause = Math.min(pause * 2, 50);
  }
}

/** Killed processes vanish at once, unless the kernel holds them in a call that cannot be interrupted. */
const vanishMs = 10_000;

/** From so many numbers on, to read the list of processes costs less than to try each. */
const fewNumbers = 400;

/** Numbers of the processes that may have started since, and may have ended. */
function startedSince(first: number): readonly number[] {
  const count = newestProcess() - first;
  if (count >= 0 && count <= fewNumbers) return Array.from({ length: count }, (_, index) => first + 1 + index);
  return (processesSince(first) ?? []).filter(({ ended }) => !ended).map((entry) => entry.id);
}

function sees(process: number, mountName: string): boolean {
  try {
    return readFileSync(`/proc/${process}/mountinfo`, "latin1").includes(` ${mountName} `);
  } catch {
    // It ended, or belongs to somebody else; ours run as this user.
    return false;
  }
}

function joinFailure({ exitCode, output }: CommandRun): string | undefined {
  return exitCode === 1 && /^nsenter: [^\n]+\n?$/.test(output) ? output.trim() : undefined;
}
