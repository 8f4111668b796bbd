import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, realpath, rm, statfs } from "node:fs/promises";
import { homedir, platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { sandboxedGitHint } from "@gennai/git/run/git-isolation";
import { GitMissingError, machineGit, oldestGit } from "@gennai/git/run/machine-git";
import { userConfigDir } from "@gennai/machine/config/config-directory";
import type { Check, Finding } from "@gennai/machine/finding";
import { findBubblewrap } from "@gennai/machine/host/find-bubblewrap";
import { commandEnvironment } from "@gennai/machine/process/command-environment";
import { ripgrepPath } from "@gennai/machine/workspace/search/ripgrep-path";
import { namespaceAdvice } from "@gennai/stage/sandbox/namespace-advice";
import { openSandbox } from "./open-sandbox.ts";
import { stageFinding } from "./stage-check.ts";

const run = promisify(execFile);

const MiB = 1024 * 1024;
/** Free bytes on the state directory's disk: below the first a person should act, below the second work may fail at once. */
const lowDisk = 1024 * MiB;
const emptyDisk = 100 * MiB;
/** For each line of versions, the first in which SQLite needs no flag. */
const oldestNodes = [
  [22, 13],
  [23, 4],
];

export interface Machine {
  readonly stateDir: string;
  /** Real path. */
  readonly workspace: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Checks of what Gennai needs of a machine. */
export function machineChecks(machine: Machine): readonly Check[] {
  return [
    { name: "node", run: async () => nodeFinding(process.versions.node) },
    { name: "git", run: () => gitFinding() },
    { name: "ripgrep", run: (signal) => ripgrepFinding(signal) },
    { name: "sandbox", run: () => sandboxFindings(machine) },
    { name: "disk", run: () => diskFinding(machine.stateDir) },
    { name: "proxy", run: async () => proxyFindings(machine.environment) },
  ];
}

/** Node passes by a proxy unless it is told: https://nodejs.org/api/cli.html#node_use_env_proxy1 */
export function proxyFindings(environment: Machine["environment"]): readonly Finding[] {
  const name = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"].find((each) => environment[each]);
  if (name === undefined || environment["NODE_USE_ENV_PROXY"] === "1") return [];
  const text = `${name} is set, and models are asked without it.`;
  const next = ["Where the server starts: export NODE_USE_ENV_PROXY=1 (Node 22.21, 24.5 or newer)."];
  return [{ check: "proxy", state: "warn", text, next }];
}

export function nodeFinding(version: string): Finding {
  const line = Number.parseInt(version, 10);
  const oldest = oldestNodes.find(([major]) => major === line) ?? oldestNodes[0] ?? [];
  if (isAtLeast(version, oldest)) return { check: "node", state: "ok", text: `Node ${version}` };
  const text = `Node ${version} is too old.`;
  return { check: "node", state: "fail", text, next: [`Install Node ${oldest.join(".")} or newer.`] };
}

async function gitFinding(): Promise<Finding> {
  const install = [
    `Install git ${oldestGit.join(".")} or newer; without it there is no Branch Mode, no diff, and no checkpoint around commands.`,
  ];
  try {
    const { version, unsandboxed } = await machineGit();
    if (unsandboxed === undefined) return { check: "git", state: "ok", text: `git ${version}` };
    const text = `git ${version} runs without a sandbox: ${unsandboxed}.`;
    return platform() === "linux"
      ? { check: "git", state: "warn", text, next: [gitHint(unsandboxed)] }
      : { check: "git", state: "ok", text };
  } catch (error) {
    if (!(error instanceof GitMissingError)) throw error;
    return { check: "git", state: "fail", text: error.message, next: install };
  }
}

async function ripgrepFinding(signal: AbortSignal): Promise<Finding> {
  const next = [
    "Install ripgrep (Debian, Ubuntu: sudo apt install ripgrep; macOS: brew install ripgrep; Windows: winget install BurntSushi.ripgrep.MSVC).",
    "Or install the optional dependencies of @vscode/ripgrep.",
  ];
  try {
    const { stdout } = await run(ripgrepPath(), ["--version"], { signal });
    return { check: "ripgrep", state: "ok", text: stdout.split("\n", 1)[0] ?? "" };
  } catch (error) {
    const why = error instanceof Error ? error.message.trim() : String(error);
    const text = `There is no ripgrep that works: the agent cannot search. ${why}`;
    return { check: "ripgrep", state: "fail", text, next };
  }
}

/** Really makes a sandbox, in a directory that is removed again, and tests whether it can be a stage. */
async function sandboxFindings({ environment, stateDir, workspace }: Machine): Promise<readonly Finding[]> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "gennai-doctor-")));
  try {
    await using sandbox = await openSandbox({
      commands: "auto",
      stateDir: directory,
      home: homedir(),
      environment: commandEnvironment(environment),
      platform: platform(),
      privateDirectories: [userConfigDir(environment)],
    });
    if (sandbox.state === "sandboxed") {
      return [{ check: "sandbox", state: "ok", text: sandbox.reason }, await stageFinding(workspace, stateDir)];
    }
    const text = `Commands run without a sandbox: ${sandbox.reason}. Everything except plain reading asks first.`;
    return [
      { check: "sandbox", state: "warn", text, next: platform() === "linux" ? [sandboxHint(sandbox.reason)] : [] },
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function sandboxHint(complaint: string): string {
  const program = findBubblewrap();
  return program === undefined
    ? "Install bubblewrap (Debian, Ubuntu: sudo apt install bubblewrap)."
    : namespaceAdvice(complaint, program);
}

/** Of a git that no sandbox was made for, or that is not visible in one. */
function gitHint(complaint: string): string {
  return /bwrap: (?!execvp)/.test(complaint) ? sandboxHint(complaint) : `${sandboxedGitHint}.`;
}

async function diskFinding(stateDir: string): Promise<Finding> {
  let place = stateDir;
  while (!existsSync(place)) place = dirname(place);
  const { bavail, bsize } = await statfs(place);
  return freeFinding(bavail * bsize, place);
}

export function freeFinding(free: number, place: string): Finding {
  const text = `${Math.floor(free / MiB).toLocaleString("en")} MiB free at ${place}`;
  const next = ["Make room: `gennai ledger purge` forgets sessions, and old checkpoints lie in the state directory."];
  if (free < emptyDisk) return { check: "disk", state: "fail", text, next };
  return free < lowDisk ? { check: "disk", state: "warn", text, next } : { check: "disk", state: "ok", text };
}

function isAtLeast(version: string, oldest: readonly number[]): boolean {
  const parts = version.split(".").map(Number);
  for (const [index, wanted] of oldest.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}
