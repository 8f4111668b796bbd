// Which modules of the command line lie in one file: to find and to open a file costs as much as to read 50 KB more of one.
import { join } from "node:path";

/** What every command reads. `main.ts` stays by itself: it waits until the command has ended, and nothing may wait for it. */
const always = ["cli/src/command-line.ts", "cli/src/older-node.ts"];
/** What starts often, and reads much. */
const often = ["server/src/serve.ts", "cli/src/commands/run/run-command.ts"];

/**
 * What every command reads is one file, and so is, for each package, what a server and `gennai run` read besides. All else is
 * split by what loads it. Packages depend on others in one direction only, and so do their files.
 *
 * @param {string} root of the repository
 */
export function chunkNames(root) {
  const sources = (/** @type {readonly string[]} */ paths) => paths.map((path) => join(root, "packages", path));
  /** @type {ReadonlySet<string>} */
  let ofAll = new Set();
  /** @type {ReadonlySet<string>} */
  let ofOften = new Set();
  return {
    /** @param {(id: string) => readonly string[]} importsOf what a module imports, other than with `import()` */
    find(importsOf) {
      ofAll = closure(sources(always), importsOf);
      ofOften = closure(sources(often), importsOf);
    },
    /** @param {string} id absolute path of a module */
    nameOf(id) {
      if (ofAll.has(id)) return "start";
      return ofOften.has(id) ? packageOf(id) : null;
    },
  };
}

/**
 * @param {readonly string[]} from
 * @param {(id: string) => readonly string[]} importsOf
 */
function closure(from, importsOf) {
  const found = new Set(from);
  // It grows while it is gone through.
  for (const id of found) for (const imported of importsOf(id)) found.add(imported);
  return found;
}

/** @param {string} id */
function packageOf(id) {
  const name =
    /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id)?.[1] ?? /packages[\\/]([^\\/]+)/.exec(id)?.[1];
  return name?.replace(/^@/, "").replace(/[\\/]/, "-") ?? null;
}
