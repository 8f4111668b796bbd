import { spawn } from "node:child_process";
import { findGit } from "./find-git.ts";
import { gitEnvironment } from "./git-environment.ts";
import { type GitSandbox, gitSandboxes, handConfiguration } from "./git-sandbox.ts";
import { createUserGitConfiguration, type UserGitConfiguration } from "./user-git-configuration.ts";

/** The git of this machine, and how it is kept apart from it. */
export interface MachineGit {
  /** Absolute path. */
  readonly program: string;
  /** e.g. `2.39.5`. */
  readonly version: string;
  /** undefined where the machine has none. */
  readonly sandbox: GitSandbox | undefined;
  userConfiguration(): Promise<UserGitConfiguration>;
}

/** There is no git to run, or one that is too old. */
export class GitMissingError extends Error {
  override readonly name = "GitMissingError";
}

/** Older ones take no settings from their environment, so that nothing would outrank a repository's own. */
export const oldestGit = [2, 31] as const;

const probeMs = 10_000;

let found: Promise<MachineGit> | undefined;

/** Looked for once, by running it. Rejects with `GitMissingError`; then it is looked for again the next time. */
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
  for (const sandbox of gitSandboxes(program)) {
    const line = sandbox.commandLine({ readable: [], writable: [] }, "/");
    const version = await versionOf([...line, program]);
    if (version !== undefined) return { program, version, sandbox, userConfiguration };
  }
  const version = await versionOf([program]);
  if (version === undefined) throw new GitMissingError(`git cannot be run: ${program}.`);
  return { program, version, sandbox: undefined, userConfiguration };
}

/** undefined when it cannot be run there. Throws `GitMissingError` when it is too old, or does not answer in time. */
function versionOf([program = "", ...args]: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args, "--version"], {
      env: { ...gitEnvironment(), HOME: "/" },
      // In the sandbox, 3 and 4 are read as well.
      stdio: ["ignore", "pipe", "ignore", "pipe", "pipe"],
      timeout: probeMs,
      killSignal: "SIGKILL",
    });
    handConfiguration(child, { settings: "", ignored: "" });
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.once("error", () => resolve(undefined));
    child.once("close", (code) => {
      const version = /(\d+(?:\.\d+)+)/.exec(output)?.[1];
      // Whether there is a sandbox is not known then, and nothing is run without one for that.
      if (code === null) reject(new GitMissingError("git did not answer in time."));
      else if (code !== 0 || version === undefined) resolve(undefined);
      else if (isOld(version)) reject(new GitMissingError(`git ${version} is older than ${oldestGit.join(".")}.`));
      else resolve(version);
    });
  });
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < oldestGit[0] || (major === oldestGit[0] && minor < oldestGit[1]);
}
