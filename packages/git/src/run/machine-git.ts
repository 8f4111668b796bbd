import { startProcess } from "@gennai/machine/process/start-process";
import { findGit } from "./find-git.ts";
import { gitEnvironment } from "./git-environment.ts";
import { type GitSandbox, gitSandboxes, handConfiguration } from "./git-sandbox.ts";
import { killGit } from "./kill-git.ts";
import { createUserGitConfiguration, type UserGitConfiguration } from "./user-git-configuration.ts";

/** The git of this machine, and how it is isolated from the machine. */
export interface MachineGit {
  /** Absolute path. */
  readonly program: string;
  /** e.g. `2.39.5`. */
  readonly version: string;
  /** Undefined if the machine has none. */
  readonly sandbox: GitSandbox | undefined;
  /** Why there is no sandbox; undefined if there is one. */
  readonly unsandboxed: string | undefined;
  /** @param directory in a repository @param home the user's; by default this process's */
  userConfiguration(directory: string, home?: string): Promise<UserGitConfiguration>;
}

/** There is no git to run, or one that is too old. */
export class GitMissingError extends Error {
  override readonly name: string = "GitMissingError";
}

/** Git exists, but not the sandbox that it must have. The message says why. */
export class GitUnsandboxedError extends GitMissingError {
  override readonly name = "GitUnsandboxedError";
}

/** Older versions take no settings from their environment, so that nothing would outrank a repository's own. */
export const oldestGit = [2, 31] as const;

const probeMs = 10_000;
/** Characters kept of git's message if it does not start. */
const maxComplaint = 300;

let found: Promise<MachineGit> | undefined;
let mustBeSandboxed = false;

/**
 * From now on this process runs git only in its sandbox. Rejects with `GitUnsandboxedError` if there is none. A missing git is
 * accepted: nothing can run then, and a git installed later needs a sandbox too.
 */
export async function requireGitSandbox(): Promise<void> {
  mustBeSandboxed = true;
  found = undefined;
  try {
    await machineGit();
  } catch (error) {
    if (error instanceof GitUnsandboxedError || !(error instanceof GitMissingError)) throw error;
  }
}

/** Finds git by running it, once. Rejects with `GitMissingError`; then the next call searches again. */
export function machineGit(): Promise<MachineGit> {
  found ??= look().catch((error: unknown) => {
    found = undefined;
    throw error;
  });
  return found;
}

async function look(): Promise<MachineGit> {
  const program = findGit(process.env);
  if (program === undefined) throw new GitMissingError("git is not installed.");
  const userConfiguration = createUserGitConfiguration(program);
  let reason = "there is no bubblewrap";
  for (const sandbox of gitSandboxes(program)) {
    const line = sandbox.commandLine({ readable: [], writable: [] }, "/");
    const probed = await probe([...line, program]);
    if ("version" in probed)
      return { program, version: probed.version, sandbox, unsandboxed: undefined, userConfiguration };
    reason = probed.failure;
  }
  if (mustBeSandboxed) throw new GitUnsandboxedError(`git (${program}) cannot run in a sandbox: ${reason}`);
  const probed = await probe([program]);
  if ("failure" in probed) throw new GitMissingError(`git cannot be run: ${program}.`);
  return { program, version: probed.version, sandbox: undefined, unsandboxed: reason, userConfiguration };
}

/**
 * The version, or why it cannot run in the sandbox. Rejects with `GitMissingError` if it is too old, or does not answer in time.
 */
function probe([program = "", ...args]: readonly string[]): Promise<{ version: string } | { failure: string }> {
  return new Promise((resolve, reject) => {
    const child = startProcess(program, [...args, "--version"], {
      env: { ...gitEnvironment(), HOME: "/" },
      // In the sandbox, descriptors 3 and 4 are read as well.
      stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
      detached: true,
    });
    const limit = setTimeout(() => killGit(child), probeMs);
    handConfiguration(child, { settings: "", ignored: "" });
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    let complaint = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      complaint = (complaint + text).slice(0, maxComplaint);
    });
    child.once("error", ({ message }) => {
      clearTimeout(limit);
      resolve({ failure: message });
    });
    child.once("close", (code) => {
      clearTimeout(limit);
      const version = /(\d+(?:\.\d+)+)/.exec(output)?.[1];
      // It is then unknown whether there is a sandbox, and that is no reason to run git without one.
      if (code === null) reject(new GitMissingError("git did not answer in time."));
      else if (code !== 0 || version === undefined) resolve({ failure: complaint.trim() || `exit code ${code}` });
      else if (isOld(version)) reject(new GitMissingError(`git ${version} is older than ${oldestGit.join(".")}.`));
      else resolve({ version });
    });
  });
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < oldestGit[0] || (major === oldestGit[0] && minor < oldestGit[1]);
}
