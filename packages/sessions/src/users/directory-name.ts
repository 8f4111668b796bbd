import { createHash } from "node:crypto";

/** Lower case only, and nothing that a file system reads as something else. */
const plain = /^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9_-])?$/;
const reserved = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

/**
 * The directory of a tenant or user: the name as it is where that is harmless on every file system, else its digest behind a
 * `~`, which no harmless name has. Two names never share one, also where the system does not tell `A` from `a`.
 */
export function directoryName(name: string): string {
  if (plain.test(name) && !reserved.test(name)) return name;
  return `~${createHash("sha256").update(name, "utf8").digest("hex").slice(0, 40)}`;
}
