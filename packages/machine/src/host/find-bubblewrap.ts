import { statSync } from "node:fs";

/** Where systems install bubblewrap. Never `PATH`: a workspace could put a program of this name there. */
const places = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

/** Absolute path of the system's bubblewrap, which only root could have installed; undefined if there is none. */
export function findBubblewrap(candidates: readonly string[] = places): string | undefined {
  return candidates.find((path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return (
      stat !== undefined && stat.isFile() && stat.uid === 0 && (stat.mode & 0o022) === 0 && (stat.mode & 0o111) !== 0
    );
  });
}
