import { readFileSync, renameSync, writeFileSync } from "node:fs";
import * as z from "zod";
import type { ControlState } from "./control-state.ts";

const stateSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("file"), mode: z.number(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  z.object({ type: z.literal("link"), target: z.string() }),
  z.object({ type: z.literal("directory") }),
  z.object({ type: z.literal("other"), identity: z.string(), mode: z.number().optional() }),
]);

const agreedSchema = z.object({
  named: z.array(
    z.object({
      raw: z.string(),
      absolute: z.string(),
      access: z.enum(["list", "read", "write", "delete", "unknown"]),
      pattern: z.literal(true).optional(),
      keepsContent: z.literal(true).optional(),
    }),
  ),
  git: z.enum(["none", "beside", "alone"]),
  gitCommits: z.boolean().default(false),
  gitNames: z.array(z.string()).readonly().default([]),
  gitMoves: z.boolean(),
  gitState: z.boolean(),
  installs: z.boolean(),
  newRepository: z.boolean(),
  manifests: z.boolean(),
  makefiles: z.boolean(),
});

const seenRefsSchema = z.object({
  workTree: z.string(),
  directory: z.string(),
  common: z.string(),
  protect: z.array(z.string()).readonly(),
  head: stateSchema.optional(),
  refs: z.array(z.tuple([z.string(), z.string()]).readonly()).readonly(),
  packed: stateSchema.optional(),
});

const journalSchema = z.object({
  version: z.literal(3),
  /** Real path. */
  workspaceRoot: z.string(),
  agreed: agreedSchema,
  untouchable: z.array(z.string()),
  /** Milliseconds since the epoch; later changes are not the command's. */
  deadline: z.number(),
  places: z.array(
    z.object({
      place: z.object({ root: z.string(), isGit: z.boolean() }),
      /** Identity of the directory when the command began. */
      identity: z.object({ inode: z.number(), device: z.number(), born: z.string(), boot: z.string() }),
      before: z.array(z.tuple([z.string(), stateSchema])),
      /** Directories that could not be read. */
      unreadable: z.array(z.string()).default([]),
    }),
  ),
  /** Targets of control files. */
  targets: z
    .array(z.tuple([z.string(), z.object({ level: z.enum(["protected", "sensitive"]), what: z.string() })]))
    .default([]),
  refs: seenRefsSchema.optional(),
  index: z.object({ path: z.string(), workTree: z.string(), state: stateSchema.optional() }).optional(),
});

/** The state when a command began. */
export type WatchJournal = z.infer<typeof journalSchema>;

/** The states that can be put back. */
export function journalStates({ places, refs, index }: WatchJournal): readonly ControlState[] {
  const before = places.flatMap((place) => place.before.map(([, state]) => state));
  return [...before, refs?.head, refs?.packed, index?.state].filter((state) => state !== undefined);
}

/** Writes the journal completely or not at all; a command starts only after this. */
export function writeWatchJournal(file: string, journal: WatchJournal): void {
  writeFileSync(`${file}.new`, JSON.stringify(journal), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Throws if the journal cannot be read, or is damaged. */
export function readWatchJournal(file: string): WatchJournal {
  const text = readFileSync(file, "utf8");
  try {
    return journalSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error("what was noted when the command began is damaged", { cause });
  }
}
