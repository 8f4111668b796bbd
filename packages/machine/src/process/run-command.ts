import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, lstatSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { StringDecoder } from "node:string_decoder";
import { errorMessage } from "@gennai/protocol/error-message";
import { atExit } from "./at-exit.ts";
import { BoundedOutput, type OutputEncoding } from "./bounded-output.ts";
import { type CommandLimits, defaultCommandLimits, systemLimits, watchLimits } from "./command-limits.ts";
import { HeldClock } from "./held-clock.ts";
import { inheritedDescriptors } from "./inherited-descriptors.ts";
import { type OutputPipe, outputPipe } from "./output-pipe.ts";
import { parkShell, startInParkedShell } from "./parked-shell.ts";
import { lastOfLines, PlainText, plainText } from "./plain-text.ts";
import { defaultGraceMs, endAll, endHolders, ProcessGroup } from "./process-group.ts";
import { openedBy } from "./process-table.ts";
import { settlesWithin } from "./settles-within.ts";
import { startProcess } from "./start-process.ts";
import { type CommandEnd, closing, type StartedChild } from "./started-child.ts";

export interface CapturedCommand {
  /** Program (absolute) and its arguments. */
  readonly argv: readonly string[];
  /** File to open as descriptor 3. Absolute path. */
  readonly opens?: string | undefined;
  readonly cwd: HeldDirectory;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Holds the clock of that time. */
  readonly clock?: HeldClock | undefined;
  /** Bytes of output kept, half from the beginning and half from the end. */
  readonly keepBytes?: number;
  /** Bytes of output after which the command is ended. */
  readonly maxBytes?: number;
  /** Bytes of output that are shown while it runs; by default, as many as are kept. */
  readonly liveBytes?: number;
  /** Limits on the machine's resources; the usual ones if left out. */
  readonly limits?: Partial<CommandLimits>;
  /** True if its environment holds secrets, which must not stay in a process that waits for the next command. */
  readonly alone?: boolean;
  /** True if the system ends everything that the program started when the program ends, so that nothing has to be searched. */
  readonly holdsAll?: boolean;
  /** Milliseconds between two looks at the resources it uses. */
  readonly lookEveryMs?: number;
}

/** A directory's path, and its identity when it was looked at. */
export interface HeldDirectory {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

export interface CommandRun {
  readonly state: "exited" | "timed-out" | "aborted" | "too-much-output" | "over-limit";
  /** The exceeded limit, in words; set for `over-limit`. */
  readonly exceeded?: string;
  /** Undefined if a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  /** Both streams in the order written, without terminal control sequences. */
  readonly output: string;
  /** Encoding of the bytes; `unknown`: bytes that are not UTF-8 became U+FFFD. */
  readonly encoding: OutputEncoding;
  /** SHA-256 of all received bytes. */
  readonly outputSha256: string;
  /** Bytes of output that are not in `output`. */
  readonly leftOut: number;
  /** Processes that could not be ended; empty unless they run as another user or hang in the kernel. */
  readonly survivors: readonly number[];
}

/** The command was never started. */
export class CommandNotStarted extends Error {
  override readonly name = "CommandNotStarted";
  readonly code: "directory_changed" | "spawn_failed";

  constructor(code: CommandNotStarted["code"], message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Remembers a directory, so that `runCommand` notices if another one replaced it. Throws `CommandNotStarted`. */
export function holdDirectory(path: string): HeldDirectory {
  try {
    const stat = lstatSync(path, { bigint: true });
    if (stat.isDirectory()) return { path, device: stat.dev, inode: stat.ino };
  } catch (error) {
    throw new CommandNotStarted("directory_changed", `There is no directory ${path}.`, error);
  }
  throw new CommandNotStarted("directory_changed", `${path} is not a directory.`);
}

/**
 * Runs a program in its own session, without input, and captures its output. Resolves only when every process of that session is
 * gone, however the program ends; what it left in the background is ended too. Rejects with `CommandNotStarted`; an abort before
 * the start rejects with the signal's reason.
 */
export async function runCommand(
  command: CapturedCommand,
  options: { readonly signal: AbortSignal; readonly onOutput?: (text: string) => void },
): Promise<CommandRun> {
  options.signal.throwIfAborted();
  const limits = { ...defaultCommandLimits, ...command.limits };
  const child = await start(command, limits);
  const group = new ProcessGroup(child.session);
  const output = new BoundedOutput(command.keepBytes ?? 1024 * 1024);
  const maxBytes = command.maxBytes ?? 64 * 1024 * 1024;
  const digest = createHash("sha256");
  let exceeded: string | undefined;

  const stopped = Promise.withResolvers<Exclude<CommandRun["state"], "exited">>();
  const { clock = new HeldClock() } = command;
  using _deadline = clock.start(command.timeoutMs, () => stopped.resolve("timed-out"));
  const abort = () => stopped.resolve("aborted");
  options.signal.addEventListener("abort", abort, { once: true });
  if (options.signal.aborted) abort();
  let end: CommandEnd | undefined;
  const ended = child.ended.then((how) => {
    end = how;
    return "exited" as const;
  });
  // If this process exits at once, by a second Ctrl-C, nothing keeps running.
  using _leaving = atExit(() => group.signal("SIGKILL"));
  let left: (() => readonly number[]) | undefined;
  const { lookEveryMs } = command;
  using _limits = watchLimits(child.session, command.cwd.path, { ...limits, lookEveryMs }, ({ what, running }) => {
    exceeded = what;
    left = running;
    // Killed without SIGTERM first, because a program that multiplies would go on meanwhile.
    group.signal("SIGKILL");
    stopped.resolve("over-limit");
  });
  const live = new LiveOutput(command.liveBytes ?? command.keepBytes ?? 256 * 1024, options.onOutput);
  child.output.on("data", (chunk: Buffer) => {
    output.push(chunk);
    digest.update(chunk);
    live.push(chunk);
    if (output.total > maxBytes) stopped.resolve("too-much-output");
  });
  // A reset by a killed process counts as a normal end.
  child.output.on("error", () => {});

  try {
    const first = await Promise.race([ended, stopped.promise]);
    // A command killed for exceeding a limit has also exited.
    const state = exceeded === undefined ? first : "over-limit";
    const leavesNothing = command.holdsAll === true && first === "exited" && end?.exitCode === 0;
    const survivors = leavesNothing ? [] : [...(await group.end(defaultGraceMs))];
    // Processes that created their own session are ended too.
    if (left !== undefined) survivors.push(...(await endAll(left)));
    // If processes survive, the end may never be reported.
    if (survivors.length === 0) await settlesWithin(ended, 1_000);
    if (!(await settlesWithin(child.closed, 100)) && child.pipe !== undefined) {
      survivors.push(...(await endHolders(child.pipe, child.session.since)));
    }
    if (!(await settlesWithin(child.closed, 250))) child.output.destroy();
    live.end();
    const { text, leftOut, encoding } = output.text();
    return {
      state,
      ...(exceeded === undefined || state !== "over-limit" ? {} : { exceeded }),
      exitCode: end?.exitCode,
      signal: end?.signal,
      output: plainText(lastOfLines(text)),
      encoding,
      outputSha256: digest.digest("hex"),
      leftOut,
      survivors,
    };
  } finally {
    options.signal.removeEventListener("abort", abort);
    if (command.alone !== true) parkShell(command.env);
  }
}

async function start(command: CapturedCommand, limits: CommandLimits): Promise<StartedChild> {
  const handle = openDirectory(command.cwd);
  const nothing = openSync("/dev/null", "r+");
  let to: OutputPipe | undefined;
  let child: StartedChild | undefined;
  try {
    to = await outputPipe();
    // By handle where possible, so that nothing can replace the directory between check and start.
    const byHandle = (process: string) => (isLinux ? `/proc/${process}/fd/${handle}` : command.cwd.path);
    const { argv, opens } = command;
    const shell = { argv, opens, directory: byHandle(String(process.pid)), directoryName: command.cwd.path };
    child = await startInParkedShell({ ...shell, limits: systemLimits(limits), to }, command.env);
    child ??= await spawnShell(command, limits, { directory: byHandle("self"), nothing, to });
    return child;
  } catch (error) {
    throw new CommandNotStarted("spawn_failed", `The command could not be started: ${errorMessage(error)}`, error);
  } finally {
    closeSync(handle);
    closeSync(nothing);
    if (to !== undefined) closeSync(to.end);
    if (child === undefined) to?.output.destroy();
  }
}

const isLinux = process.platform === "linux";

async function spawnShell(
  command: CapturedCommand,
  limits: CommandLimits,
  {
    directory,
    nothing,
    to,
  }: { readonly directory: string; readonly nothing: number; readonly to: OutputPipe | undefined },
): Promise<StartedChild> {
  // One pipe for both streams keeps their order; only a shell can join them, and it is replaced at once.
  const script = `${systemLimits(limits)}; ${command.opens === undefined ? "" : 'exec 3<"$0"; '}exec "$@" 2>&1`;
  const child = startProcess("/bin/sh", ["-c", script, command.opens ?? "sh", ...command.argv], {
    cwd: directory,
    env: { ...command.env, PWD: command.cwd.path },
    stdio: streams(nothing, to?.end ?? "pipe"),
    detached: true,
  });
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<CommandEnd>();
  child.once("spawn", () => begun.resolve());
  child.once("error", (error) => begun.reject(error));
  child.once("exit", (exitCode, signal) =>
    ended.resolve({ exitCode: exitCode ?? undefined, signal: signal ?? undefined }),
  );
  const pipe = child.pid === undefined ? undefined : openedBy(child.pid, 1);
  await begun.promise;
  const output = to?.output ?? child.stdout;
  if (child.pid === undefined || !(output instanceof Socket)) throw new Error("The process has no id or no output.");
  const session = { leader: child.pid, since: child.pid };
  return { session, output, pipe, ended: ended.promise, closed: closing(output) };
}

/** Streams: no input; output to this process, with errors joined by the shell; inherited descriptors are covered by `nothing`. */
function streams(nothing: number, output: "pipe" | number): ("ignore" | "pipe" | number)[] {
  const all: ("ignore" | "pipe" | number)[] = ["ignore", output, "ignore"];
  for (const descriptor of inheritedDescriptors()) {
    while (all.length < descriptor) all.push("ignore");
    all[descriptor] = nothing;
  }
  return all;
}

function openDirectory(held: HeldDirectory): number {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(held.path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    const stat = fstatSync(descriptor, { bigint: true });
    if (stat.dev === held.device && stat.ino === held.inode) return descriptor;
  } catch (error) {
    throw new CommandNotStarted("directory_changed", `The directory ${held.path} cannot be entered any more.`, error);
  }
  closeSync(descriptor);
  throw new CommandNotStarted("directory_changed", `Another directory has taken the place of ${held.path}.`);
}

/** Passes text on as it arrives, up to the limit: what is not kept need not be shown. */
class LiveOutput {
  readonly #decoder = new StringDecoder("utf8");
  readonly #plain = new PlainText();
  readonly #show: ((text: string) => void) | undefined;
  #left: number;

  constructor(limit: number, show: ((text: string) => void) | undefined) {
    this.#left = limit;
    this.#show = show;
  }

  push(chunk: Buffer): void {
    if (this.#show === undefined || this.#left <= 0) return;
    const text = this.#plain.push(this.#decoder.write(chunk.subarray(0, this.#left)));
    this.#left -= chunk.length;
    if (text !== "") this.#show(text);
    if (this.#left < 0) this.#show("\n[more output follows; its end is in the result]\n");
  }

  end(): void {
    const rest = this.#left < 0 ? "" : this.#plain.push(this.#decoder.end());
    if (rest !== "") this.#show?.(rest);
  }
}
