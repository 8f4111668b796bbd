import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { hasCode } from "@gennai/machine/system-error";

/**
 * Real paths of this machine's socket files, even if no program listens there. A process that may only read a directory can still
 * connect to a socket in it. Does not find sockets of containers, and those bound by a relative path.
 */
export function boundSockets(): readonly string[] {
  let table: string;
  try {
    table = readFileSync("/proc/net/unix", "utf8");
  } catch {
    // The kernel has no such sockets.
    return [];
  }
  const bound = new Set<string>();
  // `0000000000000000: 00000002 00000000 00010000 0001 01 21837 /run/docker.sock`; a name that begins with @ is no file.
  for (const [, path = ""] of table.matchAll(/^\S+:(?: \S+){5} +\d+ (\/.*)$/gm)) bound.add(path);
  const paths: string[] = [];
  for (const path of bound) {
    const real = realDirectoryOf(path);
    if (real !== undefined) paths.push(join(real, basename(path)));
  }
  return paths;
}

function realDirectoryOf(path: string): string | undefined {
  try {
    return realpathSync(dirname(path));
  } catch (error) {
    // The socket is below a directory that this user may not enter: uses the part of the path that can be resolved.
    const real = hasCode(error, "EACCES") ? realDirectoryOf(dirname(path)) : undefined;
    return real === undefined ? undefined : join(real, basename(dirname(path)));
  }
}
