import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

export interface UserProgramRun {
  /** undefined when it could not be started, did not end in time, or was stopped. */
  readonly code: number | undefined;
  readonly output: string;
}

/**
 * Runs a program of the user's outside of any sandbox, in no directory of a workspace, to learn how the user logs in: git and ssh
 * over the user's own settings, and helpers that these name. Nothing of a workspace is handed to it but a host and a name that were
 * checked.
 *
 * @param program absolute path
 */
export async function runUserProgram(
  program: string,
  args: readonly string[],
  options: {
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly input?: string;
    readonly signal: AbortSignal;
  },
): Promise<UserProgramRun> {
  options.signal.throwIfAborted();
  const child = spawn(program, args, {
    cwd: "/",
    env: options.environment,
    stdio: ["pipe", "pipe", "ignore"],
    timeout: patience,
    killSignal: "SIGKILL",
    signal: options.signal,
  });
  const ended = new Promise<number | undefined>((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("close", (code) => resolve(code ?? undefined));
  });
  child.stdin.on("error", () => undefined).end(options.input ?? "");
  const [code, output] = await Promise.all([ended, text(child.stdout).catch(() => "")]);
  return { code, output };
}

/** Milliseconds: a helper may ask the user to touch a key. */
const patience = 60_000;
