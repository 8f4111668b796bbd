import { existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { syncDirectory } from "../../workspace/files/sync-directory.ts";

const entryType = z.enum(["file", "link", "directory", "other"]);
const identitySchema = z.strictObject({
  type: entryType,
  inode: z.string(),
  /** Bytes and nanoseconds; not meaningful for directories. */
  size: z.string(),
  mtimeNs: z.string(),
  mode: z.number(),
});
const operationSchema = z.strictObject({
  /** Index of the root. */
  root: z.number(),
  /** Relative to the root, with `/`. */
  path: z.string(),
  /** Name in `old` and in `fresh`. */
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
  /** By root, a ctime in nanoseconds: anything not older was changed since the commit began. */
  markers: z.array(z.string()),
  operations: z.array(operationSchema),
  /** Git's lock files that the commit holds. */
  locks: z.array(z.strictObject({ root: z.number(), path: z.string() })),
});

/** One name of the tree: its earlier and its intended entry. */
export type Operation = z.infer<typeof operationSchema>;
export type OperationIdentity = z.infer<typeof identitySchema>;
export type CommitJournal = z.infer<typeof journalSchema>;

/**
 * Progress of a commit. `committing`: to be completed, or rolled back if others are in the way; `undoing`: to be rolled back;
 * `committed`: complete, and can be undone.
 */
export type CommitPhase = "committing" | "undoing" | "committed";
const phases: readonly CommitPhase[] = ["committing", "undoing", "committed"];

/** The transaction's private directory. */
interface InTransaction {
  readonly directory: string;
}

/** Durable when this returns. */
export async function writeJournal(
  { directory }: InTransaction,
  phase: CommitPhase,
  journal: CommitJournal,
): Promise<void> {
  const path = pathOf(directory, phase);
  {
    await using file = await open(`${path}.new`, "w", 0o600);
    await file.writeFile(JSON.stringify(journal));
    await file.sync();
  }
  renameSync(`${path}.new`, path);
  await syncDirectory(directory);
}

/** Durable when this returns. */
export async function enterPhase({ directory }: InTransaction, from: CommitPhase, to: CommitPhase): Promise<void> {
  renameSync(pathOf(directory, from), pathOf(directory, to));
  await syncDirectory(directory);
}

/** Durable when this returns. */
export async function removeJournal({ directory }: InTransaction, phase: CommitPhase): Promise<void> {
  rmSync(pathOf(directory, phase), { force: true });
  await syncDirectory(directory);
}

/** Undefined if nothing was begun. Throws if the journal is damaged. */
export function readJournal(
  directory: string,
): { readonly phase: CommitPhase; readonly journal: CommitJournal } | undefined {
  const phase = phases.find((each) => existsSync(pathOf(directory, each)));
  if (phase === undefined) return undefined;
  return { phase, journal: journalSchema.parse(JSON.parse(readFileSync(pathOf(directory, phase), "utf8"))) };
}

function pathOf(directory: string, phase: CommitPhase): string {
  return join(directory, `${phase}.json`);
}
