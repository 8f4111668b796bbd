import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { hasCode } from "../system-error.ts";

/** Opened at a time. */
const most = 300;

/** Makes the bytes of files, and the names in directories, durable. Missing paths are skipped. */
export async function makeDurable(paths: readonly string[]): Promise<void> {
  // Windows cannot sync a directory; its file systems journal names themselves.
  if (process.platform === "win32") return;
  // Many at once, so that the file system writes its own journal once for many.
  for (let at = 0; at < paths.length; at += most) await Promise.all(paths.slice(at, at + most).map(syncOne));
}

async function syncOne(path: string): Promise<void> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    await file.sync();
  } catch (error) {
    if (!hasCode(error, "ENOENT") && !hasCode(error, "ENOTDIR") && !hasCode(error, "ELOOP")) throw error;
  }
}
