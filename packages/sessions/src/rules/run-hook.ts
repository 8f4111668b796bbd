import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { HookRun } from "@gennai/governance/hooks/hook-answer";
import type { HookRunner } from "@gennai/governance/hooks/hooks-policy";
import { BoundedOutput } from "@gennai/machine/process/bounded-output";
import { inheritedDescriptors } from "@gennai/machine/process/inherited-descriptors";
import { ProcessGroup } from "@gennai/machine/process/process-group";
import { settlesWithin } from "@gennai/machine/process/settles-within";
import { startProcess } from "@gennai/machine/process/start-process";
import { errorMessage } from "@gennai/protocol/error-message";

/** Bytes kept of each stream, and bytes after which a hook is killed. */
const keepBytes = 64 * 1024;
const maxBytes = 1024 * 1024;
/** Milliseconds between asking a hook to end and killing it. */
const graceMs = 500;

/**
 * Runs users' hook programs: in a process session of their own, in the workspace, with the environment of commands, with the
 * call as JSON on standard input. Processes that they leave running are killed.
 */
export function createHookRunner(options: {
  readonly cwd: string;
  /** As `commandEnvironment` makes it. */
  readonly environment: Readonly<Record<string, string>>;
}): HookRunner {
  const { cwd } = options;
  const env = { ...options.environment, GENNAI_PROJECT_DIR: cwd, CLAUDE_PROJECT_DIR: cwd };
  return {
    async run(hook, input, { signal }) {
      signal.throwIfAborted();
      // Not bash: if its input is a socket, it reads the user's start-up files, whose output would be mixed into the hook's.
      const run = await runProgram("/bin/sh", ["-c", hook.command], {
        cwd,
        env,
        input: JSON.stringify(input),
        timeoutMs: hook.timeoutMs,
        signal,
      });
      signal.throwIfAborted();
      return run;
    },
  };
}

async function runProgram(
  program: string,
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly input: string;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  },
): Promise<HookRun> {
  const { cwd, env, input, timeoutMs, signal } = options;
  const stdio: ("pipe" | "ignore")[] = ["pipe", "pipe", "pipe"];
  for (const descriptor of inheritedDescriptors()) {
    while (stdio.length <= descriptor) stdio.push("ignore");
  }
  let child: ChildProcess;
  try {
    child = startProcess(program, args, { cwd, env, stdio, detached: true });
    await once(child, "spawn");
  } catch (error) {
    return failed(`it could not be started: ${errorMessage(error)}`);
  }
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null || stderr === null) {
    return failed("it could not be started: no process");
  }
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const over = Promise.withResolvers<string>();
  const timer = setTimeout(() => over.resolve(`it timed out after ${timeoutMs / 1000} s`), timeoutMs);
  const abort = (): void => over.resolve("it was stopped");
  signal.addEventListener("abort", abort, { once: true });
  // It may have been stopped while starting.
  if (signal.aborted) abort();
  const [out, errors] = [stdout, stderr].map((stream) => {
    const kept = new BoundedOutput(keepBytes);
    stream.on("data", (chunk: Buffer) => {
      kept.push(chunk);
      if (kept.total > maxBytes) over.resolve("it printed too much");
    });
    stream.on("error", () => {});
    return kept;
  });
  // A program that does not read its input closes it, which is no error.
  stdin.on("error", () => {});
  stdin.end(input);
  try {
    const failure = await Promise.race([exited.then(() => undefined), over.promise]);
    await new ProcessGroup({ leader: pid, since: pid }).end(graceMs);
    await settlesWithin(closed, 250);
    stdout.destroy();
    stderr.destroy();
    const stdoutText = out?.text() ?? { text: "", leftOut: 0 };
    const run = { exitCode: child.exitCode ?? undefined, stdout: stdoutText.text, stderr: errors?.text().text ?? "" };
    if (failure !== undefined) return { ...run, failure };
    if (child.exitCode === null) return { ...run, failure: `it was killed by ${child.signalCode ?? "a signal"}` };
    return stdoutText.leftOut > 0 ? { ...run, failure: "it printed too much" } : run;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

function failed(failure: string): HookRun {
  return { exitCode: undefined, stdout: "", stderr: "", failure };
}
