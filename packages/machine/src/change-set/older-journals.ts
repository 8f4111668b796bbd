import { readFileSync } from "node:fs";
import * as z from "zod";
import { systemErrorCode } from "../system-error.ts";
import { type HeldDirectory, holdDirectory } from "../workspace/files/held-directory.ts";
import { readIfPresent } from "../workspace/files/held-file.ts";
import { splitRelative } from "../workspace/paths/split-relative.ts";
import { checkRootInPlace } from "../workspace/paths/workspace-root.ts";
import { removeEmptyDirectories } from "./made-directories.ts";
import { placeNewFile, removeFile, replaceFile } from "./place-file.ts";

// Up to version 0.2, file tools wrote their sets into journals of another form, a file each. Version 0.4 need not read them.

const changeSchema = z.object({
  /** Relative to the root, with `/`. */
  path: z.string(),
  /** SHA-256 before and after; null where there is no file. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** Name of the finished new file beside it, until it is in place. */
  temporary: z.string(),
});
const journalSchema = z.object({
  version: z.literal(1),
  root: z.object({ path: z.string(), device: z.number(), inode: z.number() }),
  changes: z.array(changeSchema),
  /** Directories that had to be made, outermost first. */
  directories: z.array(z.string()),
});
type Change = z.infer<typeof changeSchema>;

/**
 * Completes a set that was begun. Throws, and touches nothing, if somebody has changed one of its files since.
 * @returns undefined if there was nothing to do
 */
export async function completeOlder(path: string): Promise<"removed" | "finished" | undefined> {
  const text = path.endsWith(".new") ? "" : readFileSync(path, "utf8");
  if (text.trim() === "") return undefined;
  const { root, changes, directories } = journalSchema.parse(JSON.parse(text));
  checkRootInPlace(root);
  const held = changes.map((change) => ({ change, ...splitRelative(change.path) }));
  const states = held.map(({ change, parents, name }) => {
    try {
      using directory = holdDirectory(root, parents);
      return stateOf(readIfPresent(directory, name)?.sha256, change);
    } catch (error) {
      if (systemErrorCode(error) !== "ENOENT") throw error;
      return stateOf(undefined, change);
    }
  });
  const isBegun = states.includes("after");
  if (changes.length > 1 && states.includes("other")) throw new Error(`Somebody has changed files of ${path} since.`);
  for (const [index, { change, parents, name }] of held.entries()) {
    try {
      using directory = holdDirectory(root, parents);
      if (isBegun && states[index] === "before") place(directory, name, change);
      removeFile(directory, change.temporary);
      await directory.sync();
    } catch (error) {
      if (isBegun || systemErrorCode(error) !== "ENOENT") throw error;
    }
  }
  if (!isBegun) removeEmptyDirectories(root, directories);
  return isBegun ? "finished" : "removed";
}

function stateOf(sha256: string | undefined, { before, after }: Change): "before" | "after" | "other" {
  const now = sha256 ?? null;
  return now === before ? "before" : now === after ? "after" : "other";
}

function place(directory: HeldDirectory, name: string, { before, after, temporary }: Change): void {
  if (after === null) removeFile(directory, name);
  else if (before === null) placeNewFile(directory, temporary, name);
  else replaceFile(directory, temporary, name);
}
