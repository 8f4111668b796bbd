import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as z from "zod";
import { readChecked } from "../../read-checked.ts";
import { writeDurably } from "../../write-durably.ts";
import { removeTree } from "../files/remove-tree.ts";
import { StageUnavailable } from "../transaction/stage-error.ts";
import { canHold } from "../transaction/staged-root.ts";

const rootSchema = z.strictObject({ path: z.string(), device: z.number(), inode: z.number() });
const treeSchema = z.strictObject({
  /** Of the outermost directory, or file, that git ignores; relative to the root. */
  path: z.string(),
  /** The command that made it what it is. */
  command: z.string(),
  /** ISO 8601. */
  at: z.string(),
  /** A ctime in nanoseconds: what is not older in the workspace was changed there since. */
  marker: z.string(),
  /** Inode of what the workspace has there; null for nothing. */
  was: z.string().nullable(),
});
const aboutSchema = z.strictObject({
  version: z.literal(1),
  /** Rises with each change. */
  revision: z.number(),
  /** Directories that show nothing of the workspace's: nobody but the kernel can read that off them. */
  opaque: z.array(z.string()),
  trees: z.array(treeSchema),
});
const partSchema = z.strictObject({
  version: z.literal(1),
  session: z.string(),
  root: rootSchema,
  /** Paths of the layer that are to go before anything is added. */
  cleared: z.array(z.string()),
  /** Directories that the command removed and made again. */
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
/** Whose a layer is. */
export type LayerOwner = z.infer<typeof ownerSchema>;

/** Private directory in the state directory, that says where a session's layer is. */
export function layerDirectory(stateDir: string, session: string): string {
  const name = createHash("sha256").update(session).digest("hex").slice(0, 24);
  return join(layersIn(stateDir), name);
}

/** undefined for a session that has no layer, and where nobody can tell any more whose it is. */
export function readOwner(directory: string): LayerOwner | undefined {
  return readChecked(join(directory, ownerName), ownerSchema);
}

/** Makes the places of a layer where everything can be moved into from a stage. Throws `StageUnavailable`. */
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
  // Before there is anything, so that it is found when the session goes.
  writeDurably(join(directory, ownerName), JSON.stringify(owner));
  mkdirSync(join(place, "base"), { recursive: true, mode: 0o700 });
  return owner;
}

/** Removes the layer of a session, if it has one. @param near path in the work tree that it lies over */
export async function removeLayer(stateDir: string, session: string, near: string): Promise<void> {
  await remove(layerDirectory(stateDir, session), near);
}

/**
 * Removes the layers of which nobody can tell whose they are, such as after a power failure.
 * @param near path in a work tree: what lies beside that one is found
 */
export async function removeLostLayers(stateDir: string, near: string): Promise<void> {
  for (const directory of layerDirectories(stateDir)) if (isDamaged(directory)) await remove(directory, near);
}

/** Whether a layer is there of which nobody can tell whose it is. @param directory of `layerDirectory` */
export function isDamaged(directory: string): boolean {
  return existsSync(join(directory, ownerName)) && readOwner(directory) === undefined;
}

async function remove(directory: string, near: string): Promise<void> {
  const owner = readOwner(directory);
  const places: string[] = [];
  if (owner !== undefined) places.push(owner.place);
  else for (let top = near; top !== dirname(top); top = dirname(top)) places.push(placeBeside(top, directory));
  for (const place of places) await removeTree(place);
  await removeTree(directory);
}

/** Of all layers. */
export function layerOwners(stateDir: string): readonly LayerOwner[] {
  return layerDirectories(stateDir).flatMap((directory) => readOwner(directory) ?? []);
}

/** undefined for one that is damaged: nothing is known of the layer's files then. @param place directory of a layer */
export function readAbout(place: string): LayerAbout | undefined {
  const path = join(place, "about.json");
  return existsSync(path) ? readChecked(path, aboutSchema) : { version: 1, revision: 0, opaque: [], trees: [] };
}

export function writeAbout(place: string, about: LayerAbout): void {
  writeDurably(join(place, "about.json"), JSON.stringify(about));
}

/** Undefined if there is none, or it is incomplete. @param directory that contains it */
export function readPart(directory: string): LayerPart | undefined {
  return readChecked(join(directory, "part.json"), partSchema);
}

export function writePart(directory: string, part: LayerPart): void {
  writeDurably(join(directory, "part.json"), JSON.stringify(part));
}

const ownerName = "owner.json";

/** Where the files of a layer are when the state directory cannot hold them. */
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
