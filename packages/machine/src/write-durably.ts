import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";

/** Puts a file of the server's own in the place of what is there: whole or not at all, also after a kill or a power failure. */
export function writeDurably(path: string, content: string | Uint8Array): void {
  const file = openSync(`${path}.new`, "w", 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
}
