import { spawn } from "node:child_process";
import { once } from "node:events";
import { delimiter, sep } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { endGroup, runningIn } from "./process-group.ts";

export interface Ran {
  readonly code: number;
  /** Both streams, as they came. */
  readonly output: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Ends the program and all that it started. */
  readonly signal: AbortSignal;
  /** Takes what is written, as it comes. */
  readonly onOutput?: (text: string) => void;
}

export interface StartedProgram {
  readonly pid: number;
  /** Its exit code, once it and all that it left running have ended. */
  readonly ended: Promise<number>;
}

/** Milliseconds that what is stopped has to end in order. */
const endsInOrder = 3_000;
/** Milliseconds that a program's output may stay open after its end. */
const outputOpen = 5_000;

/** Starts a program without input, in a group of its own. Rejects when it cannot start. */
export async function startProgram(
  program: string,
  args: readonly string[],
  { cwd, env = process.env, signal, onOutput = () => undefined }: RunOptions,
): Promise<StartedProgram> {
  signal.throwIfAborted();
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", onOutput);
  await once(child, "spawn");
  const pid = child.pid ?? 0;
  // Its end counts, not that of its output: a process that it left running can hold that open for ever.
  const exited = new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
  const closed = once(child, "close");
  let stopped: Promise<void> | undefined;
  const stop = () => {
    onOutput(`\n${program} is stopped. These run:\n${runningIn(pid).join("\n")}\n`);
    stopped = endGroup(pid, endsInOrder);
  };
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const end = async () => {
    const code = await exited;
    signal.removeEventListener("abort", stop);
    const left = stopped === undefined ? runningIn(pid) : [];
    if (left.length > 0) {
      onOutput(`\n${program} ended and left these running, which are ended now:\n${left.join("\n")}\n`);
    }
    await (stopped ?? endGroup(pid, 0));
    await Promise.race([closed, delay(outputOpen, undefined, { ref: false })]);
    for (const stream of [child.stdout, child.stderr]) stream.destroy();
    return code;
  };
  return { pid, ended: end() };
}

/** Runs a program to its end. Rejects when it cannot start or `signal` aborts. */
export async function runProgram(program: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  let output = "";
  const onOutput = (text: string) => {
    output += text;
    options.onOutput?.(text);
  };
  const { ended } = await startProgram(program, args, { ...options, onOutput });
  const code = await ended;
  if (options.signal.aborted) throw new Error(`${program} was stopped.\n${output}`);
  return { code, output };
}

/** Of a user who has nothing: an empty home, and no program of a checkout on the search path. */
export function environmentOfUser(home: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(package|lifecycle)|XDG_|GENNAI_|NODE_OPTIONS)/.test(name),
  );
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((each) => !each.split(sep).includes("node_modules"));
  return { ...Object.fromEntries(own), PATH: path.join(delimiter), HOME: home };
}
