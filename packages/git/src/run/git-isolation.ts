import type { ServerLog } from "@gennai/machine/server-log";
import { GitMissingError, machineGit } from "./machine-git.ts";

/** How the server's own git runs. */
export interface GitIsolation {
  /** `missing`: there is no usable git. */
  readonly state: "sandboxed" | "unsandboxed" | "missing";
  /** Why git has no sandbox, or does not run; empty if it is sandboxed. */
  readonly reason: string;
}

/** How to give git a sandbox on a machine where commands have one. A sentence without its full stop. */
export const sandboxedGitHint =
  "Install git and bubblewrap from the system's packages (git in a home directory is not visible in a sandbox)";

export async function gitIsolation(): Promise<GitIsolation> {
  try {
    const { unsandboxed } = await machineGit();
    return { state: unsandboxed === undefined ? "sandboxed" : "unsandboxed", reason: unsandboxed ?? "" };
  } catch (error) {
    if (error instanceof GitMissingError) return { state: "missing", reason: error.message };
    throw error;
  }
}

/** Warns if commands have a sandbox and git has none, which nothing else would show. */
export async function warnOfUnsandboxedGit(log: ServerLog): Promise<void> {
  try {
    const { state, reason } = await gitIsolation();
    if (state === "unsandboxed")
      log.warn(`The server's own git runs without a sandbox: ${reason}. ${sandboxedGitHint}.`);
  } catch (error) {
    log.error("Whether git has a sandbox could not be found out.", error);
  }
}
