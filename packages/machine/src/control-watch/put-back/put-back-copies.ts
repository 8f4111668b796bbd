import { chmodSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { workspaceIdOf } from "@gennai/governance/ledger/ledger-record";

/** Days for which moved files are kept, and commands per workspace; the oldest go first. */
export const keptAside = { days: 30, commands: 100 } as const;

const dayMs = 24 * 60 * 60 * 1000;

/** Private directory for what was moved out of the way of one command's put-back. Created when needed. */
export function asideOf(stateDir: string, workspaceRoot: string, run: number): string {
  return join(directoryOf(stateDir, workspaceRoot), `${Date.now()}-${run}`);
}

/** Private directory for the journals of commands that could not be put back at a start. */
export function failedAsideOf(stateDir: string, own: string): string {
  return join(stateDir, "put-back", "failed", `${Date.now()}-${own.slice(own.lastIndexOf(".") + 1)}`);
}

/** Removes moved files of one workspace that are too old or too many. */
export function sweepAside(stateDir: string, workspaceRoot: string): void {
  sweep(directoryOf(stateDir, workspaceRoot));
}

/** Removes moved files of all workspaces that are too old or too many. */
export function sweepAllAside(stateDir: string): void {
  const parent = join(stateDir, "put-back");
  for (const name of namesIn(parent)) sweep(join(parent, name));
}

function directoryOf(stateDir: string, workspaceRoot: string): string {
  return join(stateDir, "put-back", workspaceIdOf(workspaceRoot).slice(0, 16));
}

function sweep(directory: string): void {
  const times = namesIn(directory).flatMap((name) => {
    const time = /^(\d+)-\d+$/.exec(name)?.[1];
    return time === undefined ? [] : [{ name, time: Number(time) }];
  });
  const oldest = Date.now() - keptAside.days * dayMs;
  const newestFirst = times.toSorted((one, other) => other.time - one.time);
  for (const [index, { name, time }] of newestFirst.entries()) {
    if (index >= keptAside.commands || time < oldest) removeTree(join(directory, name));
  }
}

/** Removes a tree, also directories that the command closed. What cannot be removed is left for the next time. */
function removeTree(path: string): void {
  try {
    letIn(path);
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The tree belongs to another user, or another process removes it too; it is in a private place either way.
  }
}

function letIn(path: string): void {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return;
  if ((stat.mode & 0o700) !== 0o700) chmodSync(path, 0o700);
  for (const name of readdirSync(path)) letIn(join(path, name));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
