import { createHash, hash } from "node:crypto";
import { type IndexLayout, indexLayout, isPlain } from "./git-index.ts";

/**
 * An index without the extensions that git would trust in addition to its entries: offsets of the entries, and a file watcher's
 * data. Cached trees stay if they match the entries; otherwise the next commit would contain something that no status shows. An
 * index that cannot be parsed stays unchanged.
 */
export function soundIndex(bytes: Uint8Array): Uint8Array {
  const layout = indexLayout(bytes);
  if (layout === undefined) return bytes;
  const { view, end, objectBytes } = layout;
  const before = view.subarray(view.length - objectBytes);
  const kept: Buffer[] = [];
  let isWhole = true;
  for (let at = end; at < view.length - objectBytes; ) {
    const next = at + 8 + view.readUInt32BE(at + 4);
    const name = view.toString("latin1", at, at + 4);
    const isKept = name === "REUC" || (name === "TREE" && saysTrees(view.subarray(at + 8, next), layout));
    if (isKept) kept.push(view.subarray(at, next));
    else isWhole = false;
    at = next;
  }
  if (isWhole) return bytes;
  const content = Buffer.concat([view.subarray(0, end), ...kept]);
  // Git can be configured to write no digest.
  if (before.every((byte) => byte === 0)) return Buffer.concat([content, before]);
  const algorithm = objectBytes === 20 ? "sha1" : "sha256";
  return Buffer.concat([content, createHash(algorithm).update(content).digest()]);
}

/** Most nested directories; nobody has so many. */
const deepest = 500;

interface Tree {
  readonly object: Buffer;
  /** Number of entries of the index in this directory. */
  readonly entries: number;
}

/** The extension has for each directory: name, NUL, number of entries (-1: tree unknown), of directories, and tree. */
function saysTrees(extension: Buffer, layout: IndexLayout): boolean {
  const trees = treesOf(layout);
  const { objectBytes } = layout;
  let at = 0;
  const read = (parent: string | undefined, depth: number): boolean => {
    if (depth > deepest) return false;
    const nameEnd = extension.indexOf(0, at);
    const lineEnd = extension.indexOf(10, nameEnd);
    if (nameEnd < 0 || lineEnd < 0) return false;
    const name = extension.toString("latin1", at, nameEnd);
    const numbers = /^(-?\d+) (\d+)$/.exec(extension.toString("latin1", nameEnd + 1, lineEnd));
    if (numbers === null) return false;
    const path = parent === undefined ? "" : `${parent}${name}/`;
    at = lineEnd + 1;
    const entries = Number(numbers[1]);
    if (entries >= 0) {
      const object = extension.subarray(at, at + objectBytes);
      at += objectBytes;
      const tree = trees.get(path);
      if (tree?.entries !== entries || !tree.object.equals(object)) return false;
    }
    for (let below = Number(numbers[2]); below > 0; below -= 1) if (!read(path, depth + 1)) return false;
    return true;
  };
  return read(undefined, 0) && at === extension.length;
}

/** The trees by directory, with a slash at its end. None for a directory with an entry that is in no tree, or in conflict. */
function treesOf({ view, entries, objectBytes }: IndexLayout): ReadonlyMap<string, Tree> {
  const algorithm = objectBytes === 20 ? "sha1" : "sha256";
  const trees = new Map<string, Tree>();
  const names = entries.map(({ name }) => name.toString("latin1"));
  if (names.some((name) => name.split("/").length > deepest)) return trees;
  let at = 0;
  // An index is in the order of trees, in which a directory counts as its name with a slash.
  const build = (directory: string): Tree | undefined => {
    const first = at;
    const parts: Buffer[] = [];
    let isPlainAll = true;
    while (names[at]?.startsWith(directory) === true) {
      const entry = entries[at];
      const path = names[at] ?? "";
      const slash = path.indexOf("/", directory.length);
      if (entry === undefined) break;
      const name = path.slice(directory.length, slash < 0 ? undefined : slash);
      let object: Buffer | undefined;
      if (slash >= 0) object = build(path.slice(0, slash + 1))?.object;
      else {
        at += 1;
        object = isPlain(entry) ? view.subarray(entry.start + 40, entry.flagsAt) : undefined;
      }
      if (object === undefined) isPlainAll = false;
      else parts.push(Buffer.from(`${slash < 0 ? entry.mode.toString(8) : "40000"} ${name}\0`, "latin1"), object);
    }
    if (!isPlainAll) return undefined;
    const content = Buffer.concat(parts);
    const object = hash(algorithm, Buffer.concat([Buffer.from(`tree ${content.length}\0`), content]), "buffer");
    const tree = { object, entries: at - first };
    trees.set(directory, tree);
    return tree;
  };
  build("");
  return trees;
}
