import * as z from "zod";

/** Most bytes of all staged content, before and after, and so also of one file: a person must be able to read it. */
export const maxStagedBytes = 20 * 1024 * 1024;

/** Permission bits of a new file if none were given. */
export const ordinaryMode = 0o644;

const stateSchema = z.strictObject({
  sha256: z.string(),
  /** Permission bits. */
  mode: z.number(),
});

const versionSchema = z.strictObject({
  /** null: the file did not exist. */
  sha256: z.string().nullable(),
  /** The command that made this version; empty for a file tool. */
  command: z.string(),
});

const fileSchema = z.strictObject({
  /** Relative to the workspace, with `/`. */
  path: z.string(),
  /** The file in the workspace on which this is based; null for no file. */
  base: stateSchema.nullable(),
  /** What is proposed; null for no file. */
  staged: stateSchema.nullable(),
  /** The versions that led to the staged content, oldest first; the last one is that content. */
  versions: z.array(versionSchema),
  /** The present file in the workspace, if the two cannot be merged; null for no conflict. */
  conflict: z.union([stateSchema, z.enum(["no-file", "unreadable"])]).nullable(),
  /** Milliseconds since the epoch: when the staged content was written. */
  at: z.number(),
  /** The path that it was moved from; empty if it was not moved. */
  movedFrom: z.string(),
});

/** The stored state of a session's staged tree. A new version number drops what older servers wrote. */
export const stagedTreeSchema = z.strictObject({
  version: z.literal(2),
  session: z.string(),
  root: z.string(),
  /** Proposals made of it whose review was not applied yet; newest last. */
  open: z.array(z.string()),
  /** Digest of what was proposed last; empty for none. */
  proposed: z.string(),
  files: z.array(fileSchema),
});

/** A file's content and permission bits. */
export type FileState = z.infer<typeof stateSchema>;
/** What prevents keeping a staged file. `unreadable`: the workspace's content is unknown. */
export type StagedConflict = NonNullable<StagedFile["conflict"]>;
/** One version on the way to the staged content. */
export type StagedVersion = z.infer<typeof versionSchema>;
/** A staged file: not in the workspace, but to be proposed. */
export type StagedFile = z.infer<typeof fileSchema>;
/** The stored form of a staged tree. */
export type StagedTreeRecord = z.infer<typeof stagedTreeSchema>;

export function isSameConflict(one: StagedConflict | null, other: StagedConflict | null): boolean {
  if (one === null || other === null || typeof one === "string" || typeof other === "string") return one === other;
  return isSameState(one, other);
}

export function isSameState(one: FileState | null, other: FileState | null): boolean {
  return one?.sha256 === other?.sha256 && one?.mode === other?.mode;
}
