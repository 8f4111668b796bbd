import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import { readChecked } from "@gennai/machine/read-checked";
import { replaceFileSync } from "@gennai/machine/replace-file";
import * as z from "zod";
import { StageUnavailable } from "../transaction/stage-error.ts";
import { canHold } from "../transaction/staged-root.ts";

const rootSchema = z.strictObject({ path: z.string(), device: z.number(), inode: z.number() });
const treeSchema = z.strictObject({
  /** Path of the outermost directory or file that git ignores; relative to the root. */
  path: z.string(),
  /** The command that changed it last. */
  command: z.string(),
  /** ISO 8601. */
  at: z.string(),
  /** A ctime in nanoseconds: any newer change in the workspace's tree was made by others. */
  marker: z.string(),
  /** Inode of the workspace's entry at the path; null if there is none. */
  was: z.string().nullable(),
});
const aboutSchema = z.strictObject({
  version: z.literal(1),
  /** Rises with each change. */
  revision: z.number(),
  /** Directories in which nothing of the workspace shows. Only the kernel can read the mark for this. */
  opaque: z.array(z.string()),
  trees: z.array(treeSchema),
});
const partSchema = z.strictObject({
  version: z.literal(1),
  session: z.string(),
  root: rootSchema,
  /** Paths to remove from the layer before anything is added. */
  cleared: z.array(z.string()),
  /** Directories that the command removed and created again. */
  anew: z.array(z.string()),
  trees: z.array(treeSchema),
});
const ownerSchema = z.strictObject({
  version: z.literal(1),
  session: z.string(),
  root: rootSchema,
  /** Directory that holds the layer. */
  place: z.string(),
});

/** One part of a layer, by which it is listed, kept and dropped. */
export type TreeRecord = z.infer<typeof treeSchema>;
/** What is known of a layer besides its files. */
export type LayerAbout = z.infer<typeof aboutSchema>;
/** What one command adds to the layer of its session. */
export type LayerPart = z.infer<typeof partSchema>;
/** The session and root that a layer belongs to. */
export type LayerOwner = z.infer<typeof ownerSchema>;

/** Private directory in the state directory that records where a session's layer is. */
export function layerDirectory(stateDir: string, session: string): string {
  const name = createHash("sha256").update(session).digest("hex").slice(0, 24);
  return join(layersIn(stateDir), name);
}

/** Undefined if the session has no layer, or the record of its owner is damaged. */
export function readOwner(directory: string): LayerOwner | undefined {
  return readChecked(join(directory, ownerName), ownerSchema);
}

/** Notes that a command is about to see a layer. @param directory of `layerDirectory` */
export function noteUse(directory: string): void {
  const now = new Date();
  utimesSync(join(directory, ownerName), now, now);
}

/** When a command last saw the layer of a session. Milliseconds since the epoch; 0 if it has none. */
export function layerUsedAt(stateDir: string, session: string): number {
  return statSync(join(layerDirectory(stateDir, session), ownerName), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** Makes the directories of a layer, where entries can be renamed to from a stage. Throws `StageUnavailable`. */
export function makeOwner(stateDir: string, { session, root }: Pick<LayerPart, "session" | "root">): LayerOwner {
  const directory = layerDirectory(stateDir, session);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const places = [join(directory, "files"), placeBeside(root.path, directory)];
  const place = places.find((path) => canHold(dirname(path), root));
  if (place === undefined) {
    throw new StageUnavailable(
      "no_place",
      `No directory on the file system of ${root.path} can hold what git ignores.`,
      `Put the state directory (GENNAI_STATE_DIR) on the same file system as ${root.path}, or make ${dirname(root.path)} writable.`,
    );
  }
  const owner: LayerOwner = { version: 1, session, root, place };
  // Written before the layer's directories, so that they are found when the session is deleted.
  replaceFileSync(join(directory, ownerName), JSON.stringify(owner), { durable: true });
  mkdirSync(join(place, "base"), { recursive: true, mode: 0o700 });
  return owner;
}

/** Removes the layer of a session, if it has one. @param near path in the work tree that it lies over */
export async function removeLayer(stateDir: string, session: string, near: string): Promise<void> {
  await remove(layerDirectory(stateDir, session), near);
}

/**
 * Removes the layers whose owner is unknown, e.g. after a power failure.
 * @param near path in a work tree: layers beside that work tree are found
 */
export async function removeLostLayers(stateDir: string, near: string): Promise<void> {
  for (const directory of layerDirectories(stateDir)) if (isDamaged(directory)) await remove(directory, near);
}

/** Whether a layer is there whose owner is unknown. @param directory of `layerDirectory` */
export function isDamaged(directory: string): boolean {
  return existsSync(join(directory, ownerName)) && readOwner(directory) === undefined;
}

async function remove(directory: string, near: string): Promise<void> {
  const owner = readOwner(directory);
  const places: string[] = [];
  if (owner !== undefined) places.push(owner.place);
  else for (let top = near; top !== dirname(top); top = dirname(top)) places.push(placeBeside(top, directory));
  // After a kill, nobody takes what is left for the layer.
  if (owner !== undefined) replaceFileSync(join(directory, ownerName), "", { durable: true });
  for (const place of places) await removeTree(place);
  await removeTree(directory);
}

/** The owners of all layers. */
export function layerOwners(stateDir: string): readonly LayerOwner[] {
  return layerDirectories(stateDir).flatMap((directory) => readOwner(directory) ?? []);
}

/** Undefined if the record is damaged: then nothing is known of the layer's files. @param place directory of a layer */
export function readAbout(place: string): LayerAbout | undefined {
  const path = join(place, "about.json");
  return existsSync(path) ? readChecked(path, aboutSchema) : { version: 1, revision: 0, opaque: [], trees: [] };
}

export function writeAbout(place: string, about: LayerAbout): void {
  replaceFileSync(join(place, "about.json"), JSON.stringify(about), { durable: true });
}

/** Undefined if there is no part, or an incomplete one. @param directory that contains it */
export function readPart(directory: string): LayerPart | undefined {
  return readChecked(join(directory, "part.json"), partSchema);
}

export function writePart(directory: string, part: LayerPart): void {
  replaceFileSync(join(directory, "part.json"), JSON.stringify(part), { durable: true });
}

const ownerName = "owner.json";

/** Where the files of a layer are if the state directory is on another file system. */
function placeBeside(root: string, directory: string): string {
  return join(dirname(root), `.gennai-layer-${basename(directory)}`);
}

function layerDirectories(stateDir: string): readonly string[] {
  const parent = layersIn(stateDir);
  return existsSync(parent) ? readdirSync(parent).map((name) => join(parent, name)) : [];
}

function layersIn(stateDir: string): string {
  return join(stateDir, "layers");
}
