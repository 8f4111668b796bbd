import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";

export interface GitObject {
  /** SHA-1, as git names it. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** A file or tree as git stores it. */
export function gitObject(type: "blob" | "tree", content: Uint8Array): GitObject {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  return { id: createHash("sha1").update(bytes).digest("hex"), bytes };
}

/**
 * Writes an object into a repository of our own; it is there whole or not at all. Over one that is there already: that one
 * may be damaged.
 */
export function writeLooseObject(repository: string, { id, bytes }: GitObject): void {
  const directory = join(repository, "objects", id.slice(0, 2));
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // The name by which git's own cleaning knows what a killed process left.
  const draft = join(directory, `tmp_obj_${randomBytes(6).toString("hex")}`);
  writeFileSync(draft, deflateSync(bytes, { level: 1 }), { mode: 0o400, flag: "wx" });
  renameSync(draft, join(directory, id.slice(2)));
}
