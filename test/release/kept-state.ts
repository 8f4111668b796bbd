import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { acquireFileLock } from "@gennai/store/database/file-lock";
import { builtProgram } from "@gennai/testkit/built-program";

const fixtures = join(import.meta.dirname, "fixtures");
const program = builtProgram(new URL("../../packages/cli/src/main.ts", import.meta.url));

/** Versions of which a state is kept, oldest first. */
export const keptVersions: readonly string[] = readdirSync(fixtures)
  .flatMap((name) => /^state-(.+)\.tar\.gz$/.exec(name)?.[1] ?? [])
  .sort((one, other) => one.localeCompare(other, "en", { numeric: true }));

/** What a version of Gennai left behind: a workspace, a state directory, and what was exported from them. */
export interface KeptState {
  readonly directory: string;
  readonly workspace: string;
  readonly stateDir: string;
  path(name: string): string;
  /** Runs this checkout's command line there. Never rejects. */
  gennai(...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }>;
}

/**
 * Unpacks what a version left, where it was made: a ledger is bound to the place of its workspace. One at a time, on the whole
 * machine, so that a test may have to wait for that of another checkout; it is removed afterwards.
 */
export async function withKeptState<Result>(
  version: string,
  use: (state: KeptState) => Promise<Result>,
): Promise<Result> {
  return atItsPlace(version, async (state) => {
    execFileSync("tar", ["-xzf", keptFile(version), "--no-same-owner", "-C", state.directory]);
    return use(state);
  });
}

/** An empty place for what a version leaves, as `withKeptState`. */
export async function atItsPlace<Result>(version: string, use: (state: KeptState) => Promise<Result>): Promise<Result> {
  // Not from the environment: it is in the ledger.
  const directory = `/tmp/gennai-state-${version}`;
  using _lock = await acquireFileLock(`${directory}.lock`, { timeout: 240_000 });
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(join(directory, "home"), { recursive: true, mode: 0o700 });
  try {
    return await use(keptState(directory));
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

export function keptFile(version: string): string {
  return join(fixtures, `state-${version}.tar.gz`);
}

function keptState(directory: string): KeptState {
  const [workspace, stateDir, home] = ["workspace", "state", "home"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const own = Object.entries(process.env).filter(([name]) => !/^(GENNAI_|XDG_|npm_)/.test(name));
  const env = { ...Object.fromEntries(own), HOME: home, GENNAI_STATE_DIR: stateDir, NO_COLOR: "1" };
  return {
    directory,
    workspace,
    stateDir,
    path: (name) => join(directory, name),
    gennai: (...args) =>
      new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [program, ...args], {
          cwd: workspace,
          env,
          stdio: ["ignore", "pipe", "pipe"],
        });
        let output = "";
        for (const stream of [child.stdout, child.stderr]) {
          stream.setEncoding("utf8").on("data", (text: string) => {
            output += text;
          });
        }
        child.once("error", reject);
        child.once("close", (code) => {
          resolve({ code: code ?? 1, output });
        });
      }),
  };
}
