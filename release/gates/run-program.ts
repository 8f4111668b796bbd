import { spawn } from "node:child_process";
import { delimiter, sep } from "node:path";

export interface Ran {
  readonly code: number;
  /** Both streams, as they came. */
  readonly output: string;
}

/** Runs a program to its end, without input. Rejects when it cannot start or `signal` aborts; then it is killed. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<Ran> {
  const { cwd, env = process.env, signal } = options;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    // A group of its own, so that what it started ends with it.
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    let output = "";
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It ended by itself.
      }
    };
    signal.addEventListener("abort", kill, { once: true });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    child.once("error", reject);
    child.once("close", (code) => {
      signal.removeEventListener("abort", kill);
      if (signal.aborted) reject(new Error(`${program} was stopped.\n${output.slice(-4000)}`));
      else resolve({ code: code ?? 1, output });
    });
  });
}

/** Of a user who has nothing: an empty home, and no program of a checkout on the search path. */
export function environmentOfUser(home: string): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(package|lifecycle)|XDG_|GENNAI_|NODE_OPTIONS)/.test(name),
  );
  const path = (process.env["PATH"] ?? "").split(delimiter).filter((each) => !each.split(sep).includes("node_modules"));
  return { ...Object.fromEntries(own), PATH: path.join(delimiter), HOME: home };
}
