import { StringDecoder } from "node:string_decoder";
import type { CommandOptions } from "@gennai/client/connection/editor";
import { atExit } from "@gennai/machine/process/at-exit";
import { startProcess } from "@gennai/machine/process/start-process";
import type { CommandRequest, CommandRun } from "@gennai/protocol/model/session/editor-requests";

/** Bytes of output in an answer: the end, where errors usually are. */
const keptOutput = 256 * 1024;

/** Milliseconds between the polite signal and the hard one. */
const grace = 2000;

/**
 * Runs a command in the user's shell, in a process group of its own that ends as a whole when the signal aborts. Rejects
 * when the shell cannot be started, or with the signal's reason once the group is gone.
 */
export function runInTerminal(
  request: CommandRequest & { readonly cwd: string },
  options: CommandOptions & { readonly environment: NodeJS.ProcessEnv },
): Promise<CommandRun> {
  const { signal, onOutput, environment } = options;
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const isWindows = process.platform === "win32";
    const child = startProcess(request.command, {
      cwd: request.cwd,
      shell: isWindows ? true : environment["SHELL"] || "/bin/sh",
      env: withoutCredentials(environment),
      stdio: ["ignore", "pipe", "pipe"],
      detached: !isWindows,
    });
    let output = "";
    let truncated = false;
    const receive = (text: string) => {
      if (text === "") return;
      onOutput(text);
      output += text;
      if (output.length <= keptOutput) return;
      output = output.slice(-keptOutput);
      truncated = true;
    };
    for (const stream of [child.stdout, child.stderr]) {
      const decoder = new StringDecoder("utf8");
      stream.on("data", (chunk: Buffer) => receive(decoder.write(chunk)));
      stream.on("end", () => receive(decoder.end()));
    }
    const kill = (name: NodeJS.Signals) => {
      try {
        if (child.pid !== undefined) process.kill(isWindows ? child.pid : -child.pid, name);
      } catch {
        // The process has ended meanwhile.
      }
    };
    let hard: NodeJS.Timeout | undefined;
    const onAbort = () => {
      kill("SIGTERM");
      hard = setTimeout(() => kill("SIGKILL"), grace);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    // After a second Ctrl-C this process exits at once, and must not leave the command running.
    const leaving = atExit(() => kill("SIGKILL"));
    const finish = () => {
      leaving[Symbol.dispose]();
      clearTimeout(hard);
      signal.removeEventListener("abort", onAbort);
    };
    child.on("error", (error) => {
      finish();
      reject(new Error(`The shell could not be started in ${request.cwd}: ${error.message}`));
    });
    child.on("close", (code, signalName) => {
      finish();
      if (signal.aborted) reject(signal.reason);
      else {
        const exitCode = code ?? (signalName === null ? undefined : 128);
        resolve({ state: "exited", exitCode, output, truncated, terminalId: String(child.pid ?? "") });
      }
    });
  });
}

/** The user's environment without the token that opens this user's servers. */
function withoutCredentials(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { GENNAI_AUTH_TOKEN: _, ...rest } = environment;
  return rest;
}
