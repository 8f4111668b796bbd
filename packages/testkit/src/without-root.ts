import { chownSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A user without any rights of its own: `nobody`. */
const nobody = 65_534;

/**
 * Runs a piece of a test without root's rights, which would let every access check pass. Elsewhere it just runs it.
 *
 * @param directory whose files the work is about; they are given to the user it runs as
 */
export async function withoutRoot<Value>(directory: string, work: () => Promise<Value>): Promise<Value> {
  if (process.getuid?.() !== 0 || process.seteuid === undefined) return work();
  giveTo(nobody, directory);
  process.seteuid(nobody);
  try {
    return await work();
  } finally {
    process.seteuid(0);
    giveTo(0, directory);
  }
}

function giveTo(user: number, path: string): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  chownSync(path, user, user);
  if (stat.isDirectory()) for (const name of readdirSync(path)) giveTo(user, join(path, name));
}
