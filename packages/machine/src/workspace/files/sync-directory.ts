import { closeSync, fsync, openSync } from "node:fs";
import { promisify } from "node:util";

/** Makes what was created, renamed or removed in a directory survive a power cut. Windows does that by itself. */
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
