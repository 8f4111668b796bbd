import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { isWithin } from "@gennai/protocol/is-within";

/** Paths on which something is mounted, as this process sees them, also mounts from the same file system. */
function mountPoints(): readonly string[] {
  const lines = readFileSync("/proc/self/mountinfo", "latin1").split("\n");
  return lines.map((line) => {
    // The kernel writes blanks and a few other characters as octal escapes.
    const point = (line.split(" ")[4] ?? "").replace(/\\([0-7]{3})/g, (_, octal: string) => {
      return String.fromCharCode(Number.parseInt(octal, 8));
    });
    return Buffer.from(point, "latin1").toString();
  });
}

/** Mount points in a directory, relative to it, with `/`. @param root real path */
export function mountsIn(root: string): readonly string[] {
  return mountPoints()
    .filter((point) => point !== root && isWithin(point, { directory: root }))
    .map((point) => relative(root, point));
}
