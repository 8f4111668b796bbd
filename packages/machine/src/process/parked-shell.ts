import { quoted } from "@gennai/governance/command/shell-words";
import type { OutputPipe } from "./output-pipe.ts";
import { newestProcess, openedBy } from "./process-table.ts";
import { SpawnHelper, type WaitingShell } from "./spawn-helper.ts";
import { closing, type StartedChild } from "./started-child.ts";

/** What a waiting shell is told to start. */
export interface ShellStart {
  /** Program (absolute) and its arguments. */
  readonly argv: readonly string[];
  /** File to open as descriptor 3. */
  readonly opens?: string | undefined;
  /** Working directory, e.g. a handle of this process. Absolute. */
  readonly directory: string;
  /** The directory's name as the command should see it. */
  readonly directoryName: string;
  /** Shell words before the program. */
  readonly limits: string;
  /** Where it writes; by default, to the shell's own output. */
  readonly to: OutputPipe | undefined;
}

type Environment = Readonly<Record<string, string>>;

/** Milliseconds until a shell that does not answer is given up. */
const timeoutMs = 5_000;
/** Milliseconds between the first command and the start of the helper, so that the command's result goes out first. */
const helperDelay = 25;
/** After this many unexpected ends of the helper, no new one is started. */
const maxHelpers = 3;

let helper: SpawnHelper | undefined;
let helpers = 0;
let helperTimer: NodeJS.Timeout | undefined;

/** A shell that waits with an environment; when it is taken, the next one is started. */
class Parking {
  #parked: { readonly shell: WaitingShell; readonly key: string } | undefined;
  /** Environment of the shell that is being started. */
  #parking: string | undefined;

  /** Undefined if no shell waits. */
  take(environment: Environment): WaitingShell | undefined {
    const shell = this.#parked?.key === keyOf(environment) ? this.#parked.shell : undefined;
    if (shell !== undefined) this.#parked = undefined;
    return shell;
  }

  has(environment: Environment): boolean {
    const key = keyOf(environment);
    return this.#parked?.key === key || this.#parking === key;
  }

  /** Ignores errors: a caller without a waiting process starts one itself, and reports the error. */
  parkQuietly(environment: Environment): void {
    this.#park(environment).catch(() => undefined);
  }

  async #park(environment: Environment): Promise<void> {
    if (helper === undefined || helper.hasEnded) {
      if (helpers === maxHelpers) return;
      helpers += 1;
      helper = SpawnHelper.start();
    }
    const key = keyOf(environment);
    this.#parking = key;
    const shell = await helper.shell(environment);
    if (this.#parking === key) this.#parking = undefined;
    if (shell === undefined) return;
    if (this.#parked !== undefined) letGo(this.#parked.shell);
    this.#parked = { shell, key };
    void shell.ended.then(() => {
      if (this.#parked?.shell !== shell) return;
      this.#parked = undefined;
      // Perhaps only its helper is gone.
      letGo(shell);
    });
  }
}

const forCommands = new Parking();
/** Shells for keepers of mounts, which this process itself needs. */
const forKeepers = new Parking();

function keyOf(environment: Environment): string {
  return JSON.stringify(environment);
}

/**
 * Starts a program in the shell that waits with this environment, and makes the next one wait. Undefined if no shell waits, or it
 * could not go on; then nothing was started.
 */
export async function startInParkedShell(
  start: ShellStart,
  environment: Environment,
): Promise<StartedChild | undefined> {
  const shell = forCommands.take(environment);
  if (shell === undefined) return undefined;
  const { id, input, said, saidTo, ended } = shell;
  const output = start.to?.output ?? shell.output;
  if (start.to !== undefined) shell.output.destroy();
  for (const stream of [input, output, said]) stream.ref();
  const pipe = start.to === undefined ? openedBy(id, 1) : openedBy(process.pid, start.to.end);
  // The shell has waited for a while: processes that others started since are not its children.
  const session = { leader: id, since: Math.max(id, newestProcess()) };
  // Its message comes before the end of the stream, even if it has ended by now, so that no program is started twice.
  const goesOn = Promise.withResolvers<boolean>();
  said.once("data", () => goesOn.resolve(true));
  said.once("close", () => goesOn.resolve(false));
  const giveUp = setTimeout(() => kill(id), timeoutMs);
  input.end(scriptOf(start, saidTo));
  forCommands.parkQuietly(environment);
  try {
    if (!(await goesOn.promise)) return undefined;
    shell.watch();
    return { session, output, pipe, ended, closed: closing(output) };
  } finally {
    clearTimeout(giveUp);
  }
}

/** Makes a shell wait for the next command, unless one does. It does not keep this process running, and ends with it. */
export function parkShell(environment: Environment): void {
  // In older versions, pipes passed on by another process cannot be unreferenced, and would keep this process running.
  if (Number.parseInt(process.versions.node, 10) < 24) return;
  if (forCommands.has(environment)) return;
  if (helper !== undefined) forCommands.parkQuietly(environment);
  else helperTimer ??= setTimeout(() => forCommands.parkQuietly(environment), helperDelay).unref();
}

/** A waiting shell that can become a keeper of mounts; starts the next one. Undefined if there is none. */
export function takeKeeperShell(environment: Environment): WaitingShell | undefined {
  const shell = forKeepers.take(environment);
  // Before the first command there is no helper, and none is started for this alone.
  if (helper !== undefined && !forKeepers.has(environment)) forKeepers.parkQuietly(environment);
  return shell;
}

/** Ends the shell, which exits at the end of its input. */
function letGo({ input, output, said }: WaitingShell): void {
  input.end();
  for (const stream of [output, said]) stream.destroy();
}

function scriptOf({ argv, opens, directory, directoryName, limits, to }: ShellStart, saidTo: number): string {
  return [
    `cd ${quoted(directory)} && PWD=${quoted(directoryName)} && export PWD || exit 125`,
    `unset OLDPWD; ${limits}`,
    ...(to === undefined ? [] : [`exec >/proc/${process.pid}/fd/${to.end}`]),
    `echo >&${saidTo}; exec ${saidTo}>&- ${opens === undefined ? "" : `3<${quoted(opens)} `}${argv.map(quoted).join(" ")} </dev/null 2>&1`,
    "",
  ].join("\n");
}

/** Kills a process that may be gone already. */
export function kill(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // The process is gone.
  }
}
