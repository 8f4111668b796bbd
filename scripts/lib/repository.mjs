import { existsSync, readdirSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Absolute path of the checkout. */
export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** @param {...string} parts @returns {string} an absolute path inside the checkout */
export function inRepository(...parts) {
  return join(root, ...parts);
}

/** @param {string} path absolute @returns {boolean} true for the checkout itself and what is in it */
export function isInRepository(path) {
  return path === root || path.startsWith(`${root}${sep}`);
}

/** @returns {string[]} absolute paths; what another branch left behind is not among them */
export function packageDirectories() {
  const directories = readdirSync(inRepository("packages")).map((name) => inRepository("packages", name));
  return directories.filter((directory) => existsSync(join(directory, "package.json")));
}
