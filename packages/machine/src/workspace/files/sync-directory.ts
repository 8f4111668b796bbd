import { closeSync, fsync, openSync } from "node:fs";
import { promisify } from "node:util";

/** Makes creations, renames and removals in a directory survive a power cut. Windows does so by itself. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === "win32") return;
  const descriptor = openSync(directory, "r");
  try {
    await fsyncAsync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const fsyncAsync = promisify(fsync);
