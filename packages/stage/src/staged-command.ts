import { readFileSync, realpathSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandGitConfiguration } from "@gennai/git/run/command-git-configuration";
import { withSettings } from "@gennai/git/run/git-settings";
import type { CommandLimits } from "@gennai/machine/process/command-limits";
import type { HeldClock } from "@gennai/machine/process/held-clock";
import { plainShell } from "@gennai/machine/process/plain-shell";
import { newestProcess, processesSince } from "@gennai/machine/process/process-table";
import { CommandNotStarted, type CommandRun, holdDirectory, runCommand } from "@gennai/machine/process/run-command";
import { isWithin } from "@gennai/protocol/is-within";
import { homeSettings } from "./cover/home-settings.ts";
import type { MountKeeper } from "./mount/mount-keeper.ts";
import { hideBelow, machineArguments, startArguments } from "./sandbox/bubblewrap-arguments.ts";
import { secretsAt } from "./sandbox/cover/shown-secrets.ts";
import { type ShellMachine, sandboxFailure } from "./sandbox/shell-sandbox.ts";
import { NotObservable } from "./transaction/stage-error.ts";
import { type StagedRoot, stageParts } from "./transaction/staged-root.ts";

export interface StagedCommand {
  /** Text for the shell. */
  readonly text: string;
  /** Real path, in one of the roots. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** File to show as `/etc/resolv.conf`. Without it, the machine's file, whose name server the command cannot reach. */
  readonly resolver?: string | undefined;
  readonly timeoutMs: number;
  /** Holds the clock of that time while a person is asked about something that the command waits for. */
  readonly clock?: HeldClock | undefined;
  readonly keepBytes?: number;
  readonly maxBytes?: number;
  readonly liveBytes?: number;
  readonly lookEveryMs?: number;
  readonly limits?: Partial<CommandLimits>;
  /** Further mounts for this one run. */
  readonly mounts?: readonly RunMount[];
  /** Private directory that is its `/tmp`; if undefined, the one that runs of the workspace share. */
  readonly temporary?: string | undefined;
  /** True for a network of its own with no way out, whatever network other runs on this stage have. */
  readonly offline?: boolean;
  /** True if it can reach other machines: then hooks of the user's do not run. */
  readonly hasWayOut?: boolean;
  /** True if its environment holds secrets, which must not stay in a process that waits for the next run. */
  readonly alone?: boolean;
}

/**
 * `path` is its place in the run: a file or socket of the machine, or a text or bytes, all read-only; or an empty, writable directory
 * in memory.
 */
export type RunMount = { readonly path: string } & (
  | { readonly source: string }
  | { readonly text: string | Uint8Array }
  | { readonly empty: true }
);

type InRoot = (path: string) => boolean;

/** Bytes. */
const memoryDirectorySize = "268435456";

interface StageParts {
  readonly roots: readonly StagedRoot[];
  readonly mounts: MountKeeper;
  readonly machine: ShellMachine;
}

/**
 * Runs a command that sees the roots' overlays at the roots' own paths. It runs as the same user, without network and without any
 * other file of the user. Resolves only when no process sees the overlays any more. Rejects with `CommandNotStarted`.
 */
export async function runOnStage(
  command: StagedCommand,
  stage: StageParts,
  options: {
    readonly signal: AbortSignal;
    readonly onOutput?: (text: string) => void;
    /** Called when the sandbox is made and the command runs in it; not if the command was over before that was noticed. */
    readonly onRunning?: () => void;
  },
): Promise<CommandRun> {
  const { text, cwd, environment, resolver, mounts, temporary, offline = false, hasWayOut, ...rest } = command;
  const { machine, roots } = stage;
  const git = await machine.gitConfiguration(roots[0]?.path ?? cwd);
  const user = { secrets: await machine.secrets(), git: hasWayOut && !offline ? { ...git, hooks: undefined } : git };
  const first = newestProcess();
  const argv = [
    ...stage.mounts.joinArguments,
    ...sandboxArguments({ cwd, resolver, mounts, temporary, offline }, stage, user),
    ...limitedShell(text),
  ];
  const env = quietGit(environment);
  // A directory that exists only in the run is entered inside the sandbox.
  const directory = stage.roots.some(({ path }) => isWithin(cwd, { directory: path })) ? cwd : "/";
  const { onRunning, ...others } = options;
  const { filter } = stage.machine.features;
  const held = holdDirectory(directory);
  const running = runCommand({ argv, opens: filter, cwd: held, env, ...rest, holdsAll: true }, others);
  if (onRunning !== undefined) tellWhenItRuns(stage.mounts, first, { running, onRunning });
  const run = await running;
  // Otherwise the sandbox was ended before its processes, or could not start.
  if (run.state !== "exited" || run.exitCode !== 0) await nobodySees(stage.mounts, first);
  const failure = sandboxFailure(run) ?? joinFailure(run);
  if (failure !== undefined) throw new CommandNotStarted("spawn_failed", `The sandbox could not start: ${failure}`);
  return run;
}

function sandboxArguments(
  command: Pick<StagedCommand, "cwd" | "resolver" | "mounts" | "temporary" | "offline">,
  { roots, mounts, machine }: StageParts,
  user: { readonly secrets: readonly string[]; readonly git: CommandGitConfiguration },
): readonly string[] {
  const { cwd, resolver, mounts: besides = [], offline } = command;
  const { bubblewrap, features, layout, empty } = machine;
  const { git } = user;
  const { temporary = machine.temporary } = command;
  const isInRoot: InRoot = (path) => roots.some((root) => isWithin(path, { directory: root.path }));
  const named = [...git.named, ...(git.hooks === undefined ? [] : [git.hooks])].filter((path) => !isInRoot(path));
  const secrets = [...user.secrets, ...named.flatMap(secretsAt)].filter((path) => !isInRoot(path));
  const inPlace = mounts.readOnly === undefined ? [] : roots.map(({ path }) => path);
  return [
    bubblewrap,
    ...machineArguments({ layout, temporary }, features),
    ...mounts.caches.flatMap(({ path, directory }) => ["--bind-try", join(directory, stageParts.merged), path]),
    // Shares the network of the keeper, which is that of the session.
    ...(mounts.hasNetwork && offline !== true ? ["--share-net"] : []),
    // As another user, git would consider every file changed, and refuse the repository as foreign.
    ...["--uid", String(process.getuid?.() ?? 0), "--gid", String(process.getgid?.() ?? 0)],
    ...settingsArguments(machine, git.text, isInRoot),
    ...named.flatMap((path) => ["--ro-bind", path, path]),
    ...rootArguments(roots, mounts),
    // A command that sees the roots themselves could connect to a socket there; on an overlay or a copy nobody listens.
    ...hideBelow([...layout.readable, ...named, ...inPlace], {
      layout: { hidden: [...layout.hidden, ...secrets] },
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

/** Mounts of the roots. Overlays and copies already leave out what is hidden; otherwise it is covered here. */
function rootArguments(roots: readonly StagedRoot[], { readOnly }: MountKeeper): readonly string[] {
  if (readOnly === undefined) {
    return roots.flatMap(({ path, directory }) => ["--bind", join(directory, stageParts.merged), path]);
  }
  return [
    ...roots.flatMap(({ path }) => ["--ro-bind", path, path]),
    ...readOnly.inPlace.flatMap(({ path, source }) => ["--ro-bind", source, path]),
  ];
}

/** If `/etc/resolv.conf` is a link, its target is mounted over. A machine without the file gets none. */
function resolverArguments(file: string): readonly string[] {
  try {
    return ["--ro-bind", file, realpathSync("/etc/resolv.conf")];
  } catch {
    return [];
  }
}

/** Mounts the user's settings of git and of package managers, e.g. registries. Those inside a root come from its overlay. */
function settingsArguments(
  { layout: { home }, fileOf }: ShellMachine,
  git: string,
  isInRoot: InRoot,
): readonly string[] {
  if (home === undefined) return [];
  const ofGit = git === "" ? [] : [{ path: join(home, ".gitconfig"), text: git }];
  return [...homeSettings(home), ...ofGit]
    .filter(({ path }) => !isInRoot(path))
    .flatMap(({ path, text }) => ["--ro-bind", fileOf(text), path]);
}

/**
 * Switches off git's own housekeeping, and hooks that Git LFS installs in passing, whose effects nobody asked for; signing, because
 * the keys are not there; and forms of the index that cannot be judged: git writes it whole instead.
 */
function quietGit(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const settings = [
    ["gc.auto", "0"],
    ["maintenance.auto", "false"],
    ["commit.gpgsign", "false"],
    ["tag.gpgsign", "false"],
    ["core.splitindex", "false"],
    ["index.sparse", "false"],
  ] as const;
  return { ...withSettings(environment, settings), GIT_OPTIONAL_LOCKS: "0", GIT_LFS_TRACK_NO_INSTALL_HOOKS: "1" };
}

/** Looks repeatedly, for a limited time, until a process of the stage runs in the sandbox and is not the sandbox itself. */
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

/** Each look reads much of `/proc`, which is slow on a busy machine. */
const longestPauseMs = 160;
/** Some programs hide their processes, so that the command may never be seen. */
const longestLookMs = 10_000;

/**
 * True for a process that has a number in an inner namespace and is not bubblewrap, which has one before it becomes the command.
 */
function isInSandbox(process: number): boolean {
  try {
    const status = readFileSync(`/proc/${process}/status`, "latin1");
    return /^NSpid:\s*\d+\s+\d/m.test(status) && !/^Name:\s*bwrap$/m.test(status);
  } catch {
    return false;
  }
}

/** Resolves when no process sees the mounts: the others in the sandbox end a moment after its first one. */
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

/** Milliseconds. Killed processes vanish at once, unless the kernel holds them in a call that cannot be interrupted. */
const vanishMs = 10_000;

/** From this count on, reading the list of processes costs less than trying each number. */
const fewNumbers = 400;

/** Numbers of processes that may have started since `first`; some may have ended. */
function startedSince(first: number): readonly number[] {
  const count = newestProcess() - first;
  if (count >= 0 && count <= fewNumbers) return Array.from({ length: count }, (_, index) => first + 1 + index);
  return (processesSince(first) ?? []).filter(({ ended }) => !ended).map((entry) => entry.id);
}

function sees(process: number, mounts: MountKeeper): boolean {
  try {
    return mounts.isSeen(process, readFileSync(`/proc/${process}/mountinfo`, "latin1"));
  } catch {
    // The process has ended or belongs to another user; the command's processes run as this user.
    return false;
  }
}

function joinFailure({ exitCode, output }: CommandRun): string | undefined {
  return exitCode === 1 && /^nsenter: [^\n]+\n?$/.test(output) ? output.trim() : undefined;
}

/** What a program that a person starts finds in the user's home, which is otherwise empty in a run. */
export interface ProgramHome {
  /** Real paths of directories: the program reads their content; what it writes there is lost after the run. */
  readonly directories: readonly string[];
  /** Mounts over these directories, or elsewhere. */
  readonly mounts: readonly RunMount[];
  /** Single files, by real path: the program finds them with this text; what it writes there is lost after the run. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** Environment variables besides those of every command. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * The sandbox's first process, with the command as its child. Limits the processes and threads of its namespace. Linux counts
 * these by namespace since 5.14; earlier versions count all of the user's, so there is no limit there.
 */
function limitedShell(command: string): readonly string[] {
  return ["/bin/sh", "-c", firstProcess, ...plainShell(command)];
}

/** Shells use different letters for this limit. */
const limit = countsByNamespace(release()) ? "{ ulimit -u 8192 || ulimit -p 8192; } 2>/dev/null; " : "";

/**
 * The shell stays: a command that is the first process itself gets no signal that it does not handle. The exit code tells which
 * signal ended the command; the shell prints nothing about it.
 */
const firstProcess = `${limit}{ "$0" "$@" 2>&3 3>&-; } 3>&2 2>/dev/null; exit $?`;

function countsByNamespace(kernel: string): boolean {
  const [major = 0, minor = 0] = kernel.split(/[.-]/).map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
