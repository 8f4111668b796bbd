import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage } from "@gennai/protocol/error-message";
import { atExit } from "../process/at-exit.ts";
import { ownerRuns, thisOwner } from "../process/locks/journal-owner.ts";
import type { WorkspaceRoot } from "../workspace/paths/workspace-root.ts";
import { removeRest } from "./carry-out.ts";
import { completeOlder } from "./older-journals.ts";
import { recoverSet } from "./recover-set.ts";
import { type ChangeSet, readJournal } from "./set-journal.ts";

/** A set without a stage: what is ready and what was taken is beside the files. `releaseSet` ends it. */
export function takeSet(stateDir: string, root: WorkspaceRoot): ChangeSet {
  const parent = directoryOf(stateDir);
  for (const directory of idle) {
    if (dirname(directory) !== parent) continue;
    idle.delete(directory);
    if (existsSync(directory)) return { directory, roots: [root] };
  }
  count += 1;
  const directory = join(parent, `${thisOwner()}-${count}`);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return { directory, roots: [root] };
}

/** Keeps the directory of a set that has ended, and its blank journal, for the next one, until this process ends. */
export function releaseSet({ directory }: ChangeSet): void {
  atEnd ??= atExit(() => [...idle].forEach(removeDirectory));
  idle.add(directory);
  const [oldest] = idle;
  if (idle.size > mostIdle && oldest !== undefined) removeDirectory(oldest);
}

export interface RecoveredSet {
  readonly id: string;
  /** As of `recoverSet`; `stuck`: it could be neither completed nor rolled back, and the next start tries again. */
  readonly state: Awaited<ReturnType<typeof recoverSet>> | "stuck";
  /** Why it is `stuck`. */
  readonly reason?: string;
}

/** Ends the sets of processes that have ended. Those of which nothing had begun, or all was done, are not told. */
export async function recoverFileSets(stateDir: string): Promise<readonly RecoveredSet[]> {
  const recovered: RecoveredSet[] = [];
  for (const id of abandoned(stateDir)) {
    const path = join(directoryOf(stateDir), id);
    try {
      const state = id.endsWith(".json") ? await completeOlder(path) : await recover(path);
      rmSync(path, { recursive: true, force: true });
      if (state !== undefined) recovered.push({ id, state });
    } catch (error) {
      recovered.push({ id, state: "stuck", reason: errorMessage(error) });
    }
  }
  return recovered;
}

async function recover(directory: string): Promise<RecoveredSet["state"] | undefined> {
  const written = readJournal(directory);
  if (written === undefined) return undefined;
  const set = { directory, roots: written.journal.roots };
  const state = await recoverSet(set, written);
  removeRest(set, written.journal);
  return state;
}

/** Removes the journals that name a workspace, whatever state its files are in. @param root real path */
export function forgetFileSets(stateDir: string, root: string): void {
  for (const id of abandoned(stateDir)) {
    const path = join(directoryOf(stateDir), id);
    const files = id.endsWith(".json") ? [path] : readdirSync(path).map((name) => join(path, name));
    if (files.some((file) => readFileSync(file, "utf8").includes(JSON.stringify(root)))) removeDirectory(path);
  }
}

export function hasAbandonedSets(stateDir: string): boolean {
  return abandoned(stateDir).length > 0;
}

/** Names of the sets whose process has ended. */
function abandoned(stateDir: string): readonly string[] {
  const directory = directoryOf(stateDir);
  return (existsSync(directory) ? readdirSync(directory) : []).filter((name) => {
    const owner = namePattern.exec(name)?.[1];
    return owner !== undefined && !ownerRuns(owner);
  });
}

function removeDirectory(directory: string): void {
  idle.delete(directory);
  rmSync(directory, { recursive: true, force: true });
}

function directoryOf(stateDir: string): string {
  return join(stateDir, "workspace-journals");
}

/** With an end, it is a journal of the version before. */
const namePattern = /^(\d+-\d+-[0-9a-f]+)-\d+(?:\.json(?:\.new)?)?$/;
/** Directories of this process that wait for the next set. */
const idle = new Set<string>();
const mostIdle = 8;
let atEnd: Disposable | undefined;
let count = 0;
