import { randomBytes } from "node:crypto";
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";
import { link, open, rename, rm } from "node:fs/promises";
import { hasCode } from "./system-error.ts";

interface ReplaceOptions {
  /** The content is on the disk before it gets the name, so that a power failure leaves the old file or the new one. */
  readonly durable?: boolean;
  /** Whatever the umask. Default: 0600. */
  readonly mode?: number;
}

/** Puts a file in the place of what is there: readers see the old content or the new one. Several may do so at once. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  { durable = false, mode = 0o600 }: ReplaceOptions = {},
): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    {
      await using file = await open(draft, "wx", mode);
      if (mode !== 0o600) await file.chmod(mode);
      await file.writeFile(content);
      if (durable) await file.sync();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** Makes a file whose content is on the disk before it gets the name. One that is there, as another process made it meanwhile, stays. */
export async function createFile(path: string, content: string | Uint8Array): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    {
      await using file = await open(draft, "wx", 0o600);
      await file.writeFile(content);
      await file.sync();
    }
    // Unlike a rename, a link never replaces what is there.
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

/** As `replaceFile`, for a file that one caller writes at a time: the draft that a killed one left is written over. */
export function replaceFileSync(
  path: string,
  content: string | Uint8Array,
  { durable = false, mode = 0o600 }: ReplaceOptions = {},
): void {
  const draft = `${path}.new`;
  const file = openSync(draft, "w", mode);
  try {
    if (mode !== 0o600) fchmodSync(file, mode);
    writeFileSync(file, content);
    if (durable) fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, path);
}
