import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as z from "zod";
import { removeTree } from "./remove-tree.ts";
import { StageUnavailable } from "./stage-error.ts";
import { canHold } from "./staging-place.ts";

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
export type LayeredTree = z.infer<typeof treeSchema>;
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

/** undefined for a session that has no layer. */
export function readOwner(directory: string): LayerOwner | undefined {
  const bytes = readPresent(join(directory, "owner.json"));
  return bytes === undefined ? undefined : ownerSchema.parse(JSON.parse(bytes));
}

/** Makes the places of a layer where everything can be moved into from a stage. Throws `StageUnavailable`. */
export function makeOwner(stateDir: string, { session, root }: Pick<LayerPart, "session" | "root">): LayerOwner {
  const directory = layerDirectory(stateDir, session);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const name = directory.slice(directory.lastIndexOf("/") + 1);
  const places = [join(directory, "files"), join(dirname(root.path), `.gennai-layer-${name}`)];
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
  writeWhole(join(directory, "owner.json"), owner);
  mkdirSync(join(place, "base"), { recursive: true, mode: 0o700 });
  return owner;
}

/** Removes the layer of a session, if it has one. */
export async function removeLayer(stateDir: string, session: string): Promise<void> {
  const directory = layerDirectory(stateDir, session);
  const owner = readOwner(directory);
  if (owner !== undefined) await removeTree(owner.place);
  await removeTree(directory);
}

/** Of all layers. */
export function layerOwners(stateDir: string): readonly LayerOwner[] {
  const parent = layersIn(stateDir);
  if (!existsSync(parent)) return [];
  return readdirSync(parent).flatMap((name) => readOwner(join(parent, name)) ?? []);
}

/** @param place directory of a layer */
export function readAbout(place: string): LayerAbout {
  const bytes = readPresent(join(place, "about.json"));
  return bytes === undefined
    ? { version: 1, revision: 0, opaque: [], trees: [] }
    : aboutSchema.parse(JSON.parse(bytes));
}

export function writeAbout(place: string, about: LayerAbout): void {
  writeWhole(join(place, "about.json"), about);
}

/** undefined where there is none, or it was not finished. @param directory that holds it */
export function readPart(directory: string): LayerPart | undefined {
  const bytes = readPresent(join(directory, "part.json"));
  return bytes === undefined ? undefined : partSchema.parse(JSON.parse(bytes));
}

export function writePart(directory: string, part: LayerPart): void {
  writeWhole(join(directory, "part.json"), part);
}

function readPresent(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function writeWhole(path: string, value: unknown): void {
  writeFileSync(`${path}.new`, JSON.stringify(value), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

function layersIn(stateDir: string): string {
  return join(stateDir, "layers");
}
