import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { artefactNames } from "../make-release.ts";
import type { GateContext } from "./gate.ts";
import { endGroup } from "./process-group.ts";
import { environmentOfUser, type Ran, type RunOptions, runProgram, startProgram } from "./run-program.ts";

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
  { directory, scratch, version, doing }: Omit<GateContext, "root" | "publicKey">,
  { signal }: { readonly signal: AbortSignal },
): Promise<InstalledCommandLine> {
  const home = join(scratch, "home");
  const prefix = join(scratch, "prefix");
  const elsewhere = join(scratch, "elsewhere");
  for (const each of [home, prefix, elsewhere]) mkdirSync(each, { recursive: true });
  const env = environmentOfUser(home);
  const options = { cwd: elsewhere, env, signal };
  const tarball = join(directory, artefactNames(version).commandLine);
  doing(() => `npm installs ${tarball}`);
  const quiet = ["--no-audit", "--no-fund", "--no-update-notifier"];
  const installed = await runProgram("npm", ["install", "--global", "--prefix", prefix, ...quiet, tarball], options);
  if (installed.code !== 0) throw new Error(`npm install failed:\n${installed.output.slice(-2000)}`);
  const program = join(prefix, "bin", "gennai");
  const run = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) => {
    doing(() => `gennai ${args.join(" ")}`);
    return runProgram(program, args, { ...options, env: { ...env, ...environment } });
  };
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

async function serve(program: string, args: readonly string[], options: RunOptions): Promise<ServedCommandLine> {
  let output = "";
  const listening = Promise.withResolvers<{ readonly url: string; readonly link: string }>();
  const onOutput = (text: string) => {
    output += text;
    const [, url] = /listening on (http:\/\/[\d.:]+)/.exec(output) ?? [];
    const [, link] = /Open (http:\S+)/.exec(output) ?? [];
    if (url !== undefined && link !== undefined) listening.resolve({ url, link });
  };
  const { pid, ended } = await startProgram(program, args, { ...options, onOutput });
  void ended.then((code) => {
    listening.reject(new Error(`gennai serve ended with ${code}:\n${output.slice(-2000)}`));
  });
  const { url, link } = await listening.promise;
  return {
    url,
    link,
    async stop() {
      process.kill(pid, "SIGTERM");
      return ended;
    },
    async [Symbol.asyncDispose]() {
      await endGroup(pid, 0);
      await ended;
    },
  };
}
