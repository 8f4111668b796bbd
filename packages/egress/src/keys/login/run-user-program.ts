import { startProcess } from "@gennai/machine/process/start-process";

export interface UserProgramRun {
  /** Undefined if the program could not be started, did not end in time, or printed too much. */
  readonly code: number | undefined;
  readonly output: string;
}

/**
 * Runs a program of the user's to learn how the user logs in: git and ssh with the user's own settings, and helpers that these
 * name. It runs without a sandbox, outside of any workspace, and gets nothing from a workspace except a checked host and name.
 *
 * Rejects with the signal's reason if it aborts.
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
    readonly timeoutMs?: number;
  },
): Promise<UserProgramRun> {
  options.signal.throwIfAborted();
  const child = startProcess(program, args, {
    cwd: "/",
    env: options.environment,
    stdio: ["pipe", "pipe", "ignore"],
    // Leads its own process group, which is ended as a whole: a helper starts further processes, which hold its output open.
    detached: true,
  });
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  const stop = (): void => {
    killGroup(child.pid);
    child.stdout.destroy();
    resolve(undefined);
  };
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout
    .on("error", () => undefined)
    .on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) stop();
    });
  child.stdin.on("error", () => undefined).end(options.input ?? "");
  child.once("error", () => resolve(undefined)).once("close", (code) => resolve(code ?? undefined));
  const timer = setTimeout(stop, options.timeoutMs ?? timeoutMs);
  options.signal.addEventListener("abort", stop, { once: true });
  try {
    const code = await promise;
    options.signal.throwIfAborted();
    return { code, output: Buffer.concat(chunks).toString() };
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener("abort", stop);
  }
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Bytes. Far more than a login has. */
const maxBytes = 1024 * 1024;

/** Milliseconds: a helper may ask the user to touch a key. */
const timeoutMs = 60_000;
