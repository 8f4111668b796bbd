import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import * as z from "zod";

const entryType = z.enum(["file", "link", "directory", "other"]);
const identitySchema = z.strictObject({
  type: entryType,
  inode: z.string(),
  /** Bytes and nanoseconds; of directories they say nothing. */
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
  /** What stands there before; null for a new name. */
  before: identitySchema.nullable(),
  /** What shall stand there; null for nothing. The same inode with another mode: only that is set. */
  after: identitySchema.nullable(),
  /** Of git's index: `indexMeaning` of what shall stand there. */
  meaning: z.string().optional(),
});
const journalSchema = z.strictObject({
  version: z.literal(1),
  /** Of each root a ctime in nanoseconds: what is not older was changed since the commit began. */
  markers: z.array(z.string()),
  operations: z.array(operationSchema),
  /** Git's lock files that are held meanwhile. */
  locks: z.array(z.strictObject({ root: z.number(), path: z.string() })),
});

/** One name of the tree: what stands there, and what shall. */
export type Operation = z.infer<typeof operationSchema>;
export type OperationIdentity = z.infer<typeof identitySchema>;
export type CommitJournal = z.infer<typeof journalSchema>;

/**
 * How far a commit got. `committing` is to be finished, or taken back where somebody is in the way; `undoing` is to be taken
 * back; `committed` is the way back.
 */
export type CommitPhase = "committing" | "undoing" | "committed";
const phases: readonly CommitPhase[] = ["committing", "undoing", "committed"];

/** The transaction's private directory. */
interface InTransaction {
  readonly directory: string;
}

/** Durable when this returns. */
export function writeJournal({ directory }: InTransaction, phase: CommitPhase, journal: CommitJournal): void {
  const path = pathOf(directory, phase);
  const descriptor = openSync(`${path}.new`, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
  try {
    const bytes = Buffer.from(JSON.stringify(journal));
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(`${path}.new`, path);
  syncPath(directory);
}

/** Durable when this returns. */
export function enterPhase({ directory }: InTransaction, from: CommitPhase, to: CommitPhase): void {
  renameSync(pathOf(directory, from), pathOf(directory, to));
  syncPath(directory);
}

export function removeJournal({ directory }: InTransaction, phase: CommitPhase): void {
  rmSync(pathOf(directory, phase), { force: true });
  syncPath(directory);
}

/** undefined when nothing was begun. Throws for one that is damaged. */
export function readJournal(
  directory: string,
): { readonly phase: CommitPhase; readonly journal: CommitJournal } | undefined {
  const phase = phases.find((each) => existsSync(pathOf(directory, each)));
  if (phase === undefined) return undefined;
  return { phase, journal: journalSchema.parse(JSON.parse(readFileSync(pathOf(directory, phase), "utf8"))) };
}

function syncPath(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function pathOf(directory: string, phase: CommitPhase): string {
  return join(directory, `${phase}.json`);
}
