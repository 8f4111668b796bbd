import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { fitsBlock, inBlock, overwriteBlock } from "../file-in-place.ts";
import { replaceFileSync } from "../replace-file.ts";
import { syncDirectory } from "../workspace/files/sync-directory.ts";
import type { WorkspaceRoot } from "../workspace/paths/workspace-root.ts";

const seenSchema = z.strictObject({
  type: z.enum(["file", "link", "directory", "other"]),
  inode: z.string(),
  /** Bytes and nanoseconds; not meaningful for directories. */
  size: z.string(),
  mtimeNs: z.string(),
  mode: z.number(),
});
const contentSchema = z.strictObject({
  type: z.enum(["file", "link"]),
  /** Of a file's bytes, or of a link's target. */
  sha256: z.string(),
});
const identitySchema = z.union([seenSchema, contentSchema]);
const operationSchema = z.strictObject({
  /** Index of the root. */
  root: z.number(),
  /** Relative to the root, with `/`. */
  path: z.string(),
  /** Name in `old` and in `fresh`; beside the path if the root has no directory for these. */
  name: z.string(),
  /** The earlier entry; null for a new name. */
  before: identitySchema.nullable(),
  /** The intended entry; null for none. The same inode with another mode: only the mode is set. */
  after: identitySchema.nullable(),
  /** For git's index: `indexMeaning` of the intended index. */
  meaning: z.string().optional(),
});
const journalSchema = z.strictObject({
  version: z.literal(1),
  /** By root, a ctime in nanoseconds: anything not older was changed since the set was begun. */
  markers: z.array(z.string()),
  operations: z.array(operationSchema),
  /** Git's lock files that the set holds. */
  locks: z.array(z.strictObject({ root: z.number(), path: z.string() })),
  /** The roots, for a set that is no transaction of a stage. */
  roots: z.array(z.strictObject({ path: z.string(), device: z.number(), inode: z.number() })).default([]),
  /** Directories made for new entries, outermost first: a set that is taken back removes them if they are empty. */
  made: z.array(z.strictObject({ root: z.number(), path: z.string() })).default([]),
});

/** One name of the tree: its earlier and its intended entry. */
export type Operation = z.infer<typeof operationSchema>;
/** An entry as the system describes it. */
export type SeenIdentity = z.infer<typeof seenSchema>;
/** How an entry is recognized: as it was seen, or by its content. */
export type OperationIdentity = z.infer<typeof identitySchema>;
export type SetJournal = z.infer<typeof journalSchema>;

/** The identity of an entry as a journal stores it. */
export function seenIdentity({
  type,
  inode,
  size,
  mtimeNs,
  mode,
}: {
  readonly type: SeenIdentity["type"];
  readonly inode: bigint;
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly mode: number;
}): SeenIdentity {
  return { type, inode: String(inode), size: String(size), mtimeNs: String(mtimeNs), mode };
}

/** A root, and the private directory that holds `fresh` and `old` for it; without one, these are beside each path. */
export interface SetRoot extends WorkspaceRoot {
  readonly directory?: string;
}

/** Changes that are carried out together or not at all, from a journal. */
export interface ChangeSet {
  /** Private directory of the journal. */
  readonly directory: string;
  readonly roots: readonly SetRoot[];
}

export function rootOf<Root extends SetRoot>(
  { roots }: { readonly roots: readonly Root[] },
  { root }: { readonly root: number },
): Root {
  const found = roots[root];
  if (found === undefined) throw new RangeError(`There is no root ${root}.`);
  return found;
}

/**
 * Progress of a set. `committing`: to be completed, or rolled back if others are in the way; `undoing`: to be rolled back;
 * `committed`: complete, and can be undone while the earlier entries are kept.
 */
export type SetPhase = "committing" | "undoing" | "committed";
const phases: readonly SetPhase[] = ["committing", "undoing", "committed"];

type InDirectory = Pick<ChangeSet, "directory">;

/** Durable when this returns. */
export async function writeJournal({ directory }: InDirectory, phase: SetPhase, journal: SetJournal): Promise<void> {
  const path = pathOf(directory, phase);
  {
    await using file = await open(`${path}.new`, "w", 0o600);
    await file.writeFile(JSON.stringify(journal));
    await file.sync();
  }
  renameSync(`${path}.new`, path);
  await syncDirectory(directory);
}

/** Writes a journal of one operation that no kill divides: it waits for no disk, and is written over its predecessor. */
export function noteJournal({ directory }: InDirectory, journal: SetJournal): void {
  const path = pathOf(directory, "committing");
  const text = JSON.stringify(journal);
  const isBlock = fitsBlock(text);
  if (isBlock && overwriteBlock(path, text)) return;
  replaceFileSync(path, isBlock ? inBlock(text) : text);
}

/** Ends a journal without waiting for the disk. What `noteJournal` wrote stays, blank, for the next one. */
export function dropJournal({ directory }: InDirectory, phase: SetPhase): void {
  const path = pathOf(directory, phase);
  if (!overwriteBlock(path, "")) rmSync(path, { force: true });
}

/** Durable when this returns. */
export async function enterPhase({ directory }: InDirectory, from: SetPhase, to: SetPhase): Promise<void> {
  renameSync(pathOf(directory, from), pathOf(directory, to));
  await syncDirectory(directory);
}

/** Durable when this returns. */
export async function removeJournal({ directory }: InDirectory, phase: SetPhase): Promise<void> {
  rmSync(pathOf(directory, phase), { force: true });
  await syncDirectory(directory);
}

export interface WrittenJournal {
  readonly phase: SetPhase;
  readonly journal: SetJournal;
}

/** Undefined if nothing was begun. Does not read the journal. */
export function phaseOf(directory: string): SetPhase | undefined {
  return phases.find((each) => existsSync(pathOf(directory, each)));
}

/** Undefined if nothing was begun. Throws if the journal is damaged. */
export function readJournal(directory: string): WrittenJournal | undefined {
  const phase = phaseOf(directory);
  const text = phase === undefined ? "" : readFileSync(pathOf(directory, phase), "utf8");
  if (phase === undefined || text.trim() === "") return undefined;
  return { phase, journal: journalSchema.parse(JSON.parse(text)) };
}

function pathOf(directory: string, phase: SetPhase): string {
  return join(directory, `${phase}.json`);
}
