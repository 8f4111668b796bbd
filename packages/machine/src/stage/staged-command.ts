import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type CommandLimits } from "../process/group/command-limits.ts";
import { newestProcess, processesSince } from "../process/group/process-table.ts";
import { CommandNotStarted, type CommandRun, holdDirectory, runCommand } from "../process/run-command.ts";
import { isWithin } from "../sandbox/host/host-layout.ts";
import { limitedShell } from "../sandbox/limited-shell.ts";
import { hideBelow, machineArguments, startArguments } from "../sandbox/mounts/bubblewrap-arguments.ts";
import { type ShellMachine, sandboxFailure } from "../sandbox/sandboxed-shell.ts";
import { homeSettings } from "./cover/home-settings.ts";
import type { MountKeeper } from "./keeper/mount-keeper.ts";
import { NotObservable } from "./transaction/stage-error.ts";
import { type StagedRoot, stageParts } from "./transaction/staged-root.ts";

export interface StagedCommand {
  /** Text for the shell. */
  readonly text: string;
  /** Real path, in one of the roots. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Which name server it asks: a file to be found at the place of `/etc/resolv.conf`. Without it, the machine's, which it cannot reach. */
  readonly resolver?: string | undefined;
  readonly timeoutMs: number;
  readonly keepBytes?: number;
  readonly maxBytes?: number;
  readonly liveBytes?: number;
  readonly lookEveryMs?: number;
  readonly limits?: Partial<CommandLimits>;
  /** What is there for this one run besides. */
  readonly mounts?: readonly RunMount[];
  /** Private directory that is `/tmp` in it; the one that runs of the workspace share when undefined. */
  readonly temporary?: string | undefined;
  /** In a network of its own with no way out, whatever the others on this stage have. */
  readonly offline?: boolean;
  /** Its environment holds what must not wait in a process for the next run. */
  readonly alone?: boolean;
}

/** By its place in the run: a file or socket of the machine, or a text, both read-only; or an empty directory in memory, to write to. */
export type RunMount = { readonly path: string } & (
  | { readonly source: string }
  | { readonly text: string }
  | { readonly empty: true }
);

/** Bytes. */
const memoryDirectorySize = "268435456";

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
  options: {
    readonly signal: AbortSignal;
    readonly onOutput?: (text: string) => void;
    /** The sandbox is made, and the command itself runs in it; not called for one that was over before that was seen. */
    readonly onRunning?: () => void;
  },
): Promise<CommandRun> {
  const { text, cwd, environment, resolver, mounts, temporary, offline = false, ...rest } = command;
  const first = newestProcess();
  const argv = [
    ...stage.mounts.joinArguments,
    ...sandboxArguments({ cwd, resolver, mounts, temporary, offline }, stage),
    ...limitedShell(text),
  ];
  const env = { ...environment, ...quietGit(environment) };
  // One that is there in the run alone is entered by the sandbox.
  const directory = stage.roots.some(({ path }) => isWithin(cwd, path)) ? cwd : "/";
  const { onRunning, ...others } = options;
  const { filter } = stage.machine.features;
  const held = holdDirectory(directory);
  const running = runCommand({ argv, opens: filter, cwd: held, env, ...rest, holdsAll: true }, others);
  if (onRunning !== undefined) tellWhenItRuns(stage.mounts, first, { running, onRunning });
  const run = await running;
  // Else the sandbox was ended before its processes, or could not start.
  if (run.state !== "exited" || run.exitCode !== 0) await nobodySees(stage.mounts, first);
  const failure = sandboxFailure(run) ?? joinFailure(run);
  if (failure !== undefined) throw new CommandNotStarted("spawn_failed", `The sandbox could not start: ${failure}`);
  return run;
}

function sandboxArguments(
  command: Pick<StagedCommand, "cwd" | "resolver" | "mounts" | "temporary" | "offline">,
  { roots, mounts, machine }: StageParts,
): readonly string[] {
  const { cwd, resolver, mounts: besides = [], offline } = command;
  const { bubblewrap, features, layout, empty } = machine;
  const { temporary = machine.temporary } = command;
  return [
    bubblewrap,
    ...machineArguments({ layout, temporary }, features),
    ...mounts.caches.flatMap(({ path, directory }) => ["--bind-try", join(directory, stageParts.merged), path]),
    // The keeper's, which is the session's.
    ...(mounts.hasNetwork && offline !== true ? ["--share-net"] : []),
    // As another user, git would consider every file changed, and refuse the repository as foreign.
    ...["--uid", String(process.getuid?.() ?? 0), "--gid", String(process.getgid?.() ?? 0)],
    ...settingsArguments(machine, roots),
    ...rootArguments(roots, mounts),
    // Who may only read can connect to a socket that is there; on an overlay or a copy nobody listens.
    ...hideBelow([...layout.readable, ...(mounts.readOnly === undefined ? [] : roots.map(({ path }) => path))], {
      layout,
      empty,
    }),
    ...(resolver === undefined ? [] : resolverArguments(resolver)),
    ...besides.flatMap((mount) =>
      "empty" in mount
        ? ["--size", memoryDirectorySize, "--tmpfs", mount.path]
        : ["--ro-bind", "source" in mount ? mount.source : machine.fileOf(mount.text), mount.path],
    ),
    ...startArguments(cwd),
  ];
}

/** What is hidden in them, overlays and copies hide. */
function rootArguments(roots: readonly StagedRoot[], { readOnly }: MountKeeper): readonly string[] {
  if (readOnly === undefined) {
    return roots.flatMap(({ path, directory }) => ["--bind", join(directory, stageParts.merged), path]);
  }
  return [
    ...roots.flatMap(({ path }) => ["--ro-bind", path, path]),
    ...readOnly.inPlace.flatMap(({ path, source }) => ["--ro-bind", source, path]),
  ];
}

/** Where the settings are a link, what it leads to is mounted on. A machine without them gets none. */
function resolverArguments(file: string): readonly string[] {
  try {
    return ["--ro-bind", file, realpathSync("/etc/resolv.conf")];
  } catch {
    return [];
  }
}

/** From where packages come. In a root, the overlay has them. */
function settingsArguments({ layout, fileOf }: ShellMachine, roots: readonly StagedRoot[]): readonly string[] {
  if (layout.home === undefined) return [];
  return homeSettings(layout.home)
    .filter(({ path }) => !roots.some((root) => isWithin(path, root.path)))
    .flatMap(({ path, text }) => ["--ro-bind", fileOf(text), path]);
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

/** Looks at the processes on the stage, at most for a while, until one is in the sandbox and is not the sandbox itself. */
function tellWhenItRuns(
  mounts: MountKeeper,
  first: number,
  { running, onRunning }: { readonly running: Promise<CommandRun>; readonly onRunning: () => void },
): void {
  const giveUp = performance.now() + longestLookMs;
  let timer: NodeJS.Timeout | undefined;
  const look = (everyMs: number): void => {
    timer = setTimeout(() => {
      if (startedSince(first).some((process) => isInSandbox(process) && sees(process, mounts))) return onRunning();
      if (performance.now() < giveUp) look(Math.min(2 * everyMs, longestPauseMs));
    }, everyMs);
  };
  look(10);
  const stop = () => clearTimeout(timer);
  running.then(stop, stop);
}

/** Each look reads much of `/proc`, which takes long where it is busy. */
const longestPauseMs = 160;
/** It may not be seen at all: some programs let nobody look at them. */
const longestLookMs = 10_000;

/** It has a number of its own in a namespace, as bubblewrap has before it becomes the command. */
function isInSandbox(process: number): boolean {
  try {
    const status = readFileSync(`/proc/${process}/status`, "latin1");
    return /^NSpid:\s*\d+\s+\d/m.test(status) && !/^Name:\s*bwrap$/m.test(status);
  } catch {
    return false;
  }
}

/** The sandbox goes with its first process, but a moment later. */
async function nobodySees(mounts: MountKeeper, first: number): Promise<void> {
  const giveUp = performance.now() + vanishMs;
  // Twice: the last act of a process may have been to start another one.
  for (let clear = 0, pause = 1; clear < 2; ) {
    if (!startedSince(first).some((process) => sees(process, mounts))) {
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

function sees(process: number, mounts: MountKeeper): boolean {
  try {
    return mounts.isSeen(process, readFileSync(`/proc/${process}/mountinfo`, "latin1"));
  } catch {
    // It ended, or belongs to another user; ours run as this user.
    return false;
  }
}

function joinFailure({ exitCode, output }: CommandRun): string | undefined {
  return exitCode === 1 && /^nsenter: [^\n]+\n?$/.test(output) ? output.trim() : undefined;
}

/** What a program that a person starts finds of its own in the user's home, which is empty in a run otherwise. */
export interface ProgramHome {
  /** Real paths of directories: it reads what is there, and what it writes goes with the run. */
  readonly directories: readonly string[];
  /** Over these, or elsewhere. */
  readonly mounts: readonly RunMount[];
  /** Single files, by their real paths: it finds them with this text, and what it writes goes with the run. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Besides what every command has. */
  readonly environment: Readonly<Record<string, string>>;
}
