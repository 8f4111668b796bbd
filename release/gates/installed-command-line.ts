import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { artefactNames } from "../make-release.ts";
import type { GateContext } from "./gate.ts";
import { environmentOfUser, type Ran, runProgram } from "./run-program.ts";

/** The packed command line, installed as a user does, with a home of its own. */
export interface InstalledCommandLine {
  readonly env: NodeJS.ProcessEnv;
  /** What npm wrote. */
  readonly output: string;
  run(args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<Ran>;
  /** Runs a command that must end with 0. Rejects with its output otherwise. */
  must(...args: readonly string[]): Promise<string>;
  /** On a free port. Rejects when it does not listen. @param environment besides the user's */
  serve(args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<ServedCommandLine>;
}

export interface ServedCommandLine extends AsyncDisposable {
  readonly url: string;
  /** The link that opens the page. */
  readonly link: string;
  /** Ends it in order and gives its exit code. */
  stop(): Promise<number>;
}

/** `npm install --global` of the packed command line into an empty directory. Rejects when npm fails. */
export async function installCommandLine(
  { directory, scratch, version }: Pick<GateContext, "directory" | "scratch" | "version">,
  { signal }: { readonly signal: AbortSignal },
): Promise<InstalledCommandLine> {
  const home = join(scratch, "home");
  const prefix = join(scratch, "prefix");
  const elsewhere = join(scratch, "elsewhere");
  for (const each of [home, prefix, elsewhere]) mkdirSync(each, { recursive: true });
  const env = environmentOfUser(home);
  const options = { cwd: elsewhere, env, signal };
  const tarball = join(directory, artefactNames(version).commandLine);
  const quiet = ["--no-audit", "--no-fund", "--no-update-notifier"];
  const installed = await runProgram("npm", ["install", "--global", "--prefix", prefix, ...quiet, tarball], options);
  if (installed.code !== 0) throw new Error(`npm install failed:\n${installed.output.slice(-2000)}`);
  const program = join(prefix, "bin", "gennai");
  const run = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
    runProgram(program, args, { ...options, env: { ...env, ...environment } });
  return {
    env,
    output: installed.output,
    run,
    async must(...args) {
      const { code, output } = await run(args);
      if (code !== 0) throw new Error(`gennai ${args.join(" ")} ended with ${code}:\n${output.slice(-2000)}`);
      return output;
    },
    serve: (args, environment = {}) =>
      serve(program, ["serve", "--port", "0", ...args], { ...options, env: { ...env, ...environment } }),
  };
}

async function serve(
  program: string,
  args: readonly string[],
  { cwd, env, signal }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal },
): Promise<ServedCommandLine> {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  };
  signal.addEventListener("abort", kill, { once: true });
  const ended = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 1)));
  let output = "";
  const listening = new Promise<{ readonly url: string; readonly link: string }>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const [, url] = /listening on (http:\/\/[\d.:]+)/.exec(output) ?? [];
        const [, link] = /Open (http:\S+)/.exec(output) ?? [];
        if (url !== undefined && link !== undefined) resolve({ url, link });
      });
    }
    child.once("error", reject);
    void ended.then((code) => reject(new Error(`gennai serve ended with ${code}:\n${output.slice(-2000)}`)));
  });
  const stop = async () => {
    child.kill("SIGTERM");
    return ended;
  };
  try {
    return {
      ...(await listening),
      stop,
      async [Symbol.asyncDispose]() {
        signal.removeEventListener("abort", kill);
        kill();
        await ended;
      },
    };
  } catch (error) {
    kill();
    throw error;
  }
}
