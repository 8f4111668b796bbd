import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";

export interface GitObject {
  /** SHA-1 of the object, which is its name in git. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** A file or tree as git stores it. */
export function gitObject(type: "blob" | "tree", content: Uint8Array): GitObject {
  const bytes = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  return { id: createHash("sha1").update(bytes).digest("hex"), bytes };
}

/** Writes an object into a repository of our own, completely or not at all. Replaces an existing file, which may be damaged. */
export function writeLooseObject(repository: string, { id, bytes }: GitObject): void {
  const directory = join(repository, "objects", id.slice(0, 2));
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // Git's own cleaning recognises this name as left over from a killed process.
  const draft = join(directory, `tmp_obj_${randomBytes(6).toString("hex")}`);
  writeFileSync(draft, deflateSync(bytes, { level: 1 }), { mode: 0o400, flag: "wx" });
  renameSync(draft, join(directory, id.slice(2)));
}
