import { execFile } from "node:child_process";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeDurable } from "@gennai/machine/change-set/make-durable";
import { systemProgram } from "../transaction/system-program.ts";

/** From this number of files and directories on, the whole file system is synced at once. */
const many = 300;

/** Makes files, and directories with all that is in them, durable. @param near any path of their file system */
export async function makeTreesDurable(paths: readonly string[], near: string): Promise<void> {
  const all: string[] = [];
  let isReadable = true;
  const collect = (path: string): void => {
    if (all.length > many || !isReadable) return;
    const stat = lstatSync(path);
    if (!stat.isDirectory() && !stat.isFile()) return;
    all.push(path);
    isReadable = (stat.mode & 0o400) !== 0;
    if (stat.isDirectory() && isReadable) for (const name of readdirSync(path)) collect(join(path, name));
  };
  for (const path of paths) collect(path);
  // What even its owner may not open can only be synced with the whole file system.
  if (isReadable && all.length <= many) await makeDurable(all);
  else await syncFileSystem(near);
}

async function syncFileSystem(near: string): Promise<void> {
  await promisify(execFile)(systemProgram("sync"), ["--file-system", near], { env: {} });
}
