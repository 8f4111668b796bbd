import { join } from "node:path";
import { phaseOf } from "@gennai/machine/change-set/set-journal";
import { readChecked } from "@gennai/machine/read-checked";
import { replaceFileSync } from "@gennai/machine/replace-file";
import * as z from "zod";
import type { StageEffect } from "../observe/effect.ts";
import { type Transaction, transactionDirectory, transactionNames } from "../transaction/transaction.ts";
import { aloneWithCommits } from "./commit-lock.ts";
import { forgetCommit, undoCommit } from "./undo-commit.ts";

const schema = z.strictObject({
  version: z.literal(1),
  /** Real path. */
  workspace: z.string(),
  /** What was kept, in a few words: the command. Only of a commit that is taken back by name. */
  title: z.optional(z.string()),
  /** The session whose change set needs the earlier files. */
  session: z.optional(z.string()),
  /** What the session has to know if its server ended before it recorded the commit. */
  record: z.optional(z.unknown()),
  /** Milliseconds since the epoch. */
  keptAt: z.number(),
  /** Size of the earlier files. */
  bytes: z.optional(z.number()),
});

/** A commit whose earlier files are kept. */
export interface WayBack extends Omit<z.infer<typeof schema>, "version"> {
  /** The id of the transaction. */
  readonly id: string;
}

/** The earlier files, by content: SHA-256, index of the root, path relative to it. */
const replacedSchema = z.array(z.tuple([z.string(), z.number(), z.string()]));

/**
 * Limits for a state directory, because it is its disk that fills: bytes of all earlier files, and milliseconds since the commit.
 * Beyond them the oldest are forgotten.
 */
export const keptLimits = { bytes: 2 * 1024 ** 3, ageMs: 14 * 24 * 60 * 60 * 1000 } as const;

const fileName = "way-back.json";
const replacedName = "replaced.json";

/**
 * Call it before the commit: from then on its earlier files are kept, and the commit can be undone after this process ends.
 * @param kept the effects to be committed
 */
export function noteWayBack(
  { directory }: Pick<Transaction, "directory">,
  about: Omit<WayBack, "id" | "bytes">,
  kept: readonly StageEffect[],
): void {
  let bytes = 0;
  const replaced: z.infer<typeof replacedSchema> = [];
  for (const { root, path, before, after } of kept) {
    // A file of which only the mode changes stays in its place.
    if (before?.type !== "file" || (after?.type === "file" && after.sha256 === before.sha256)) continue;
    bytes += before.size;
    if (before.sha256 !== undefined) replaced.push([before.sha256, root, path]);
  }
  replaceFileSync(join(directory, replacedName), JSON.stringify(replaced), { durable: true });
  replaceFileSync(join(directory, fileName), JSON.stringify({ version: 1, bytes, ...about }), { durable: true });
}

/** Whether the earlier files of a commit are to be kept; false if its record cannot be read. */
export function hasWayBack(stateDir: string, id: string): boolean {
  return read(transactionDirectory(stateDir, id)) !== undefined;
}

function read(directory: string): z.infer<typeof schema> | undefined {
  return readChecked(join(directory, fileName), schema);
}

/** The earlier files of a commit; empty if they are not listed. */
export function replacedIn(directory: string): z.infer<typeof replacedSchema> {
  return readChecked(join(directory, replacedName), replacedSchema) ?? [];
}

/** What can be taken back, newest first. */
export function waysBack(stateDir: string): readonly WayBack[] {
  return transactionNames(stateDir)
    .flatMap((id) => {
      const directory = transactionDirectory(stateDir, id);
      const written = read(directory);
      if (written === undefined || phaseOf(directory) !== "committed") return [];
      const { version: _, ...about } = written;
      return [{ id, ...about }];
    })
    .toSorted((one, other) => other.keptAt - one.keptAt);
}

/**
 * Restores a workspace as it was before the newest commit with a title. Throws `NotCommitted` (`stale_file`) if others changed
 * the same since; then nothing is changed.
 *
 * @param workspace real path
 * @param begin is told what is about to be undone, and may throw
 * @returns what was undone; undefined if there is nothing
 */
export function goBack(
  stateDir: string,
  workspace: string,
  begin: (way: WayBack) => Promise<void>,
): Promise<WayBack | undefined> {
  return aloneWithCommits(stateDir, async () => {
    const newest = waysBack(stateDir).find((way) => way.workspace === workspace && way.title !== undefined);
    if (newest === undefined) return undefined;
    await begin(newest);
    return (await undoCommit(stateDir, newest.id)) ? newest : undefined;
  });
}

/** Forgets the commits beyond the limits. The caller holds the lock of `aloneWithCommits`. */
export async function forgetOldWaysBack(stateDir: string, now: number, limits = keptLimits): Promise<void> {
  let sum = 0;
  for (const { id, keptAt, bytes = 0 } of waysBack(stateDir)) {
    sum += bytes;
    if (sum > limits.bytes || now - keptAt > limits.ageMs) await forgetCommit(stateDir, id);
  }
}

/** Forgets the chosen ones for good. */
export function forgetWaysBack(stateDir: string, isChosen: (way: WayBack) => boolean): Promise<void> {
  if (waysBack(stateDir).every((way) => !isChosen(way))) return Promise.resolve();
  return aloneWithCommits(stateDir, async () => {
    for (const way of waysBack(stateDir)) if (isChosen(way)) await forgetCommit(stateDir, way.id);
  });
}
