import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * A file that remembers from what something was made, so that it is made again only when that changed.
 * @param {string} path of the stamp
 * @param {() => string} fingerprint of what it is made from
 */
export function stamp(path, fingerprint) {
  return {
    isCurrent() {
      try {
        return readFileSync(path, "utf8") === fingerprint();
      } catch {
        return false;
      }
    },
    clear() {
      rmSync(path, { force: true });
    },
    /** @param {string} made the fingerprint before making began: what changed meanwhile is made next time */
    write(made) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, made);
    },
    fingerprint,
  };
}

/** @param {readonly string[]} files @returns {string} a hash of what is in them */
export function contentFingerprint(files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(file)).update("\0");
  return hash.digest("hex");
}

/** @param {readonly string[]} paths files and directories @returns {string} a hash of the names, sizes and times below them */
export function listingFingerprint(paths) {
  /** @type {string[]} */
  const lines = [];
  /** @param {string} path */
  const note = (path) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined) lines.push(`${path}\0${stat.size}\0${stat.mtimeMs}\0`);
  };
  /** @param {string} directory */
  const visit = (directory) => {
    // With their types: who starts the program waits for every look at a file.
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = `${directory}/${entry.name}`;
      if (entry.isDirectory()) visit(path);
      else note(path);
    }
  };
  for (const path of paths) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) visit(path);
    else note(path);
  }
  return createHash("sha256").update(lines.sort().join("")).digest("hex");
}
