import * as z from "zod";

/** Bytes of all that is staged, before and after, so also of one file: a person has to read it. */
export const maxStagedBytes = 20 * 1024 * 1024;

/** Permission bits of a file for which nobody said others. */
export const ordinaryMode = 0o644;

const stateSchema = z.strictObject({
  sha256: z.string(),
  /** Permission bits. */
  mode: z.number(),
});

const versionSchema = z.strictObject({
  /** null: the file was not there. */
  sha256: z.string().nullable(),
  /** The command that made it so; empty for a file tool. */
  command: z.string(),
});

const fileSchema = z.strictObject({
  /** Relative to the workspace, with `/`. */
  path: z.string(),
  /** What the workspace had when this was made; null for no file. */
  base: stateSchema.nullable(),
  /** What is proposed; null for no file. */
  staged: stateSchema.nullable(),
  /** How it became what it is, oldest first; the last one is what is staged. */
  versions: z.array(versionSchema),
  /** What the workspace has by now, where the two cannot be put together; null for no conflict. */
  conflict: z.union([stateSchema, z.enum(["no-file", "unreadable"])]).nullable(),
  /** Milliseconds since the epoch: when the staged content was written. */
  at: z.number(),
  /** The path it was moved from; empty for none. */
  movedFrom: z.string(),
});

/** What is in force of a session's staged tree. A change of the version drops what older servers wrote. */
export const stagedTreeSchema = z.strictObject({
  version: z.literal(2),
  session: z.string(),
  root: z.string(),
  /** Proposals made of it whose review has not been applied yet; newest last. */
  open: z.array(z.string()),
  /** Digest of what the newest of them proposed; empty for none. */
  proposed: z.string(),
  files: z.array(fileSchema),
});

/** A file's content and permission bits. */
export type FileState = z.infer<typeof stateSchema>;
/** What prevents keeping a staged file. `unreadable`: the workspace's content is unknown. */
export type StagedConflict = NonNullable<StagedFile["conflict"]>;
/** One step on the way to what is staged. */
export type StagedVersion = z.infer<typeof versionSchema>;
/** A file that is staged: not in the workspace, but to be proposed. */
export type StagedFile = z.infer<typeof fileSchema>;
/** What is written down of a staged tree. */
export type StagedTreeRecord = z.infer<typeof stagedTreeSchema>;

export function isSameConflict(one: StagedConflict | null, other: StagedConflict | null): boolean {
  if (one === null || other === null || typeof one === "string" || typeof other === "string") return one === other;
  return isSameState(one, other);
}

export function isSameState(one: FileState | null, other: FileState | null): boolean {
  return one?.sha256 === other?.sha256 && one?.mode === other?.mode;
}
