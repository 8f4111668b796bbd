import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { phaseOf } from "@gennai/machine/change-set/set-journal";
import { namesInOwn } from "@gennai/machine/entries/names-in";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import { ownerRuns, thisOwner } from "@gennai/machine/process/locks/journal-owner";
import { readChecked } from "@gennai/machine/read-checked";
import { replaceFileSync } from "@gennai/machine/replace-file";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import * as z from "zod";
import { isOpen, openEnding, readOpen } from "./open-record.ts";
import { makePlace, placesFor, type StagedRoot, stageParts } from "./staged-root.ts";

/** The directories of one staged run. Their list is on disk before they are made. */
export interface Transaction {
  /** Name in the state directory. */
  readonly id: string;
  /** Private directory in the state directory. */
  readonly directory: string;
  readonly roots: readonly StagedRoot[];
}

const rootSchema = z.strictObject({
  path: z.string(),
  device: z.number(),
  inode: z.number(),
  /** Paths at which its private directory may be. */
  places: z.array(z.string()),
});
const transactionSchema = z.strictObject({ version: z.literal(1), roots: z.array(rootSchema) });
type WrittenRoot = z.infer<typeof rootSchema>;

const listName = "transaction.json";
let count = 0;

/** Throws `StageUnavailable` if a root has no place for it; then nothing is left behind. */
export async function makeTransaction(stateDir: string, roots: readonly WorkspaceRoot[]): Promise<Transaction> {
  const parent = transactionsIn(stateDir);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  count += 1;
  const id = `${thisOwner()}-${count}`;
  const directory = join(parent, id);
  mkdirSync(directory, { mode: 0o700 });
  const written: readonly WrittenRoot[] = roots.map(({ path, device, inode }, index) => {
    return { path, device, inode, places: [...placesFor({ path, device, inode }, directory, index)] };
  });
  try {
    replaceFileSync(join(directory, listName), JSON.stringify({ version: 1, roots: written }));
    return { id, directory, roots: written.map((root) => makePlace(rootOf(root), root.places)) };
  } catch (error) {
    await remove(directory, written);
    throw error;
  }
}

/** Undefined if there is no transaction of that name. */
export function openTransaction(stateDir: string, id: string): Transaction | undefined {
  if (!namePattern.test(id)) return undefined;
  const directory = join(transactionsIn(stateDir), id);
  const roots = readList(directory);
  if (roots === undefined) return undefined;
  const staged = roots.flatMap((root) => {
    const place = root.places.find((path) => existsSync(path));
    return place === undefined ? [] : [{ ...rootOf(root), directory: place }];
  });
  return staged.length === roots.length ? { id, directory, roots: staged } : undefined;
}

/** Removes all directories of a transaction; one that is open stays. */
export async function removeTransaction({ directory, roots }: Pick<Transaction, "directory" | "roots">): Promise<void> {
  if (isOpen(directory)) return;
  const written = roots.map((root) => ({ places: [root.directory] }));
  await remove(directory, written);
}

/** Makes the directories of a transaction ready for another run, on top of what the runs before wrote. */
export async function renewRun({ roots }: Transaction): Promise<void> {
  for (const { directory } of roots) {
    for (const name of readdirSync(directory)) if (name.startsWith("mounts")) rmSync(join(directory, name));
    for (const part of ["mask", "work", "merged", "caches"] as const) {
      await removeTree(join(directory, stageParts[part]));
      if (part !== "caches") mkdirSync(join(directory, stageParts[part]), { mode: 0o700 });
    }
  }
}

/** Removes what only the run needed; the earlier files of a commit stay. */
export async function removeRun({ roots }: Transaction): Promise<void> {
  for (const { directory } of roots) {
    for (const part of ["mask", "upper", "laid", "work", "merged", "caches"] as const)
      await removeTree(join(directory, stageParts[part]));
  }
}

/** Names of all transactions. */
export function transactionNames(stateDir: string): readonly string[] {
  return namesInOwn(transactionsIn(stateDir)).filter((name) => namePattern.test(name));
}

/** Names of those that are open. */
export function openNames(stateDir: string): readonly string[] {
  const names = namesInOwn(transactionsIn(stateDir)).filter((name) => name.endsWith(openEnding));
  return names.map((name) => name.slice(0, -openEnding.length));
}

/** Path for a name, even if there is no such transaction. */
export function transactionDirectory(stateDir: string, id: string): string {
  return join(transactionsIn(stateDir), id);
}

/** Names of the transactions whose process has ended, without those that are open and not being committed. */
export function abandonedTransactions(stateDir: string): readonly string[] {
  return transactionNames(stateDir).filter((name) => {
    const directory = transactionDirectory(stateDir, name);
    if (isOpen(directory) && phaseOf(directory) === undefined) return false;
    const owner = readOpen(directory)?.owner ?? namePattern.exec(name)?.[1];
    return owner !== undefined && !ownerRuns(owner);
  });
}

/**
 * Removes a transaction by its name alone, even if it was only half made, or lost what its way back needs. Throws if a commit had
 * begun and did not end.
 */
export async function removeByName(stateDir: string, id: string): Promise<void> {
  const directory = join(transactionsIn(stateDir), id);
  const phase = phaseOf(directory);
  if (phase !== undefined && phase !== "committed") throw new Error(`${directory} lacks what its journal needs.`);
  await remove(directory, readList(directory) ?? []);
}

async function remove(directory: string, roots: readonly { readonly places: readonly string[] }[]): Promise<void> {
  for (const { places } of roots) for (const place of places) await removeTree(place);
  await removeTree(directory);
}

function readList(directory: string): readonly WrittenRoot[] | undefined {
  const list = join(directory, listName);
  if (!existsSync(list)) {
    rmSync(`${list}.new`, { force: true });
    return undefined;
  }
  // The list may be empty after a power failure. If a commit had begun, its journal says so, and nothing is removed.
  return readChecked(list, transactionSchema)?.roots;
}

function rootOf({ path, device, inode }: WrittenRoot): WorkspaceRoot {
  return { path, device, inode };
}

/** On the state directory's file system; a root on another file system has its directory beside itself. */
function transactionsIn(stateDir: string): string {
  return join(stateDir, "stages");
}

const namePattern = /^(\d+-\d+-[0-9a-f]+)-\d+$/;
