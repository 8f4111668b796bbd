import { createHash } from "node:crypto";

/** Lower case only, and no name with a special meaning on some file system. */
const plain = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9_-])?$/;
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/**
 * The directory of a tenant or user: the name itself if it is safe on every file system, otherwise `~` and its digest, which no
 * safe name begins with. Two names never share one, even on a case-insensitive system.
 */
export function directoryName(name: string): string {
  if (plain.test(name) && !reserved.test(name)) return name;
  return `~${createHash("sha256").update(name, "utf8").digest("hex").slice(0, 40)}`;
}
