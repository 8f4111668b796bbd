import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { intentMapFile, ledgerDirectory } from "@gennai/governance/ledger/ledger-directory";
import { isReadable } from "@gennai/machine/entries/names-in";
import { objectOf } from "@gennai/machine/git-data/git-index";
import { temporaryPrefix } from "@gennai/machine/workspace/files/held-file";
import { isLedgerFileName } from "../ledger/file/ledger-file-name.ts";
import { CheckpointError } from "./checkpoint-error.ts";
import type { ShadowGit } from "./shadow-git.ts";

/** Bytes. Larger files are left out. */
export const maxFileBytes = 16 * 1024 * 1024;
/** Bytes. Smaller ignored files are kept if they lie among kept files: settings, secrets. */
const maxIgnoredBytes = 256 * 1024;
const maxIgnoredFiles = 1_000;
const maxFiles = 200_000;
const maxLeft = 10_000;
/** Bytes. Git reads larger ones again. */
const maxComparedBytes = 64 * 1024;
/** Bytes that one snapshot may add. */
const maxNewBytes = 2 * 1024 * 1024 * 1024;
const maxNestedRepositories = 64;
/** Files looked at within one tick. */
const atOnce = 500;

/** What a snapshot contains, and what it cannot contain. Paths are relative to the workspace. */
export interface KeptPaths {
  /** Paths that are new, changed or gone since the index was written: `update-index` has to look at these. */
  readonly toUpdate: readonly string[];
  /** Paths to remove from the index although they exist. */
  readonly toForget: readonly string[];
  /** Permission bits of every regular file that is kept. */
  readonly modes: ReadonlyMap<string, number>;
  /** Existing files that are not kept: too large, or unreadable. */
  readonly left: readonly string[];
}

/**
 * Finds the differences between the shadow's index and the disk; git compares, nothing is written. Rejects with
 * `CheckpointError`: `too_large` if a tree is far too large.
 *
 * @param tracked paths to keep although the ignore rules exclude them, e.g. those that the user's own repository tracks
 */
export async function findKeptPaths(
  git: ShadowGit,
  tracked: readonly string[],
  options: { readonly signal?: AbortSignal } = {},
): Promise<KeptPaths> {
  const [listed, ignored] = await Promise.all([
    git.run(["ls-files", "-z", "-s", "-t", "-c", "-o", "-m", "-d", "--exclude-standard"], options),
    git.run(["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory"], options),
  ]);
  const indexed = new Map<string, string>();
  const candidates = new Set<string>();
  const repositories: string[] = [];
  for (const line of entriesOf(listed)) {
    const tag = line.slice(0, 1);
    // TAG MODE OBJECT STAGE, a tab and the path; TAG and the path where the index has none.
    const path = tag === "?" ? line.slice(2) : line.slice(line.indexOf("\t") + 1);
    if (tag === "H") indexed.set(path, line.slice("H 100644 ".length, line.indexOf(" ", "H 100644 ".length)));
    else if (path.endsWith("/")) repositories.push(path.slice(0, -1));
    else candidates.add(path);
  }
  for (const path of await nestedFiles(git, repositories, options)) candidates.add(path);
  for (const path of tracked) if (!indexed.has(path)) candidates.add(path);
  // Directories that are ignored as a whole end with a slash.
  const alone = new Set(entriesOf(ignored).filter((path) => !path.endsWith("/")));
  if (indexed.size + candidates.size + Math.min(alone.size, maxIgnoredFiles) > maxFiles) {
    throw new CheckpointError(
      "too_large",
      `The workspace has more than ${maxFiles} files: list what matters not in .gitignore.`,
    );
  }
  return judge(git, indexed, candidates, alone, options);
}

/** @param indexed the index's object of each path */
async function judge(
  git: ShadowGit,
  indexed: ReadonlyMap<string, string>,
  candidates: ReadonlySet<string>,
  ignored: ReadonlySet<string>,
  options: { readonly signal?: AbortSignal },
): Promise<KeptPaths> {
  const toUpdate: string[] = [];
  const toForget: string[] = [];
  const left: string[] = [];
  const modes = new Map<string, number>();
  let newBytes = 0;
  let small = 0;
  let looked = 0;
  const directories = new RealDirectories(git.root);
  const sameSecond = indexSecond(git);
  for (const path of new Set([...indexed.keys(), ...candidates, ...ignored])) {
    if (isOurs(path)) continue;
    looked += 1;
    if (looked % atOnce === 0) {
      await nextTick();
      options.signal?.throwIfAborted();
    }
    const stat = directories.look(path);
    const object = candidates.has(path) ? undefined : indexed.get(path);
    const isMissed =
      object !== undefined && stat !== undefined && stat.ctimeMs >= sameSecond && !holds(git, path, object);
    const isCandidate = candidates.has(path) || isMissed;
    const onlyIgnored = !isCandidate && !indexed.has(path);
    const keepable = stat?.isSymbolicLink() === true || (stat?.isFile() === true && stat.size <= maxFileBytes);
    if (stat === undefined || !keepable) {
      if (stat?.isFile() === true && !onlyIgnored) left.push(path);
      if (indexed.has(path)) toForget.push(path);
      continue;
    }
    if (onlyIgnored && (stat.size > maxIgnoredBytes || ++small > maxIgnoredFiles)) continue;
    if (isCandidate || onlyIgnored) {
      if (stat.isFile() && !isReadable(join(git.root, path))) {
        left.push(path);
        if (indexed.has(path)) toForget.push(path);
        continue;
      }
      // Git takes an entry with the same attributes for unchanged, unless it is removed from the index first.
      if (isMissed) toForget.push(path);
      toUpdate.push(path);
      newBytes += stat.size;
    }
    if (stat.isFile()) modes.set(path, stat.mode & 0o777);
  }
  if (newBytes > maxNewBytes || left.length > maxLeft) {
    throw new CheckpointError(
      "too_large",
      "The workspace holds more than a snapshot may: list large data in .gitignore.",
    );
  }
  return { toUpdate, toForget, modes, left };
}

/** Whether a file that git finds unchanged is so; false where it is too large to be read here, or something else by now. */
function holds({ root }: ShadowGit, path: string, object: string): boolean {
  let file: number | undefined;
  try {
    // Without waiting for the writer of a named pipe, or following a link.
    file = openSync(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    return stat.isFile() && stat.size <= maxComparedBytes && objectOf(readFileSync(file), object) === object;
  } catch {
    return false;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * The second in which the index was last written, in milliseconds. Git compares whole seconds: it misses a change of content in
 * that second or later if size and time stay the same.
 */
function indexSecond(git: ShadowGit): number {
  const written = statSync(git.index, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
  return Math.floor(written / 1_000) * 1_000;
}

/** Files of repositories inside the workspace, by their own ignore rules. Git itself would only store their commit. */
async function nestedFiles(
  git: ShadowGit,
  repositories: readonly string[],
  options: { readonly signal?: AbortSignal },
): Promise<readonly string[]> {
  const found: string[] = [];
  const waiting = [...repositories];
  for (let seen = 0; waiting.length > 0; seen += 1) {
    const repository = waiting.shift();
    if (repository === undefined) break;
    if (seen >= maxNestedRepositories) {
      throw new CheckpointError("too_large", `The workspace holds more than ${maxNestedRepositories} repositories.`);
    }
    const listed = await git.run(["ls-files", "-z", "-o", "--exclude-standard"], {
      ...options,
      workTree: join(git.root, repository),
      index: join(git.directory, "no-index"),
    });
    for (const path of entriesOf(listed)) {
      if (path.endsWith("/")) waiting.push(`${repository}/${path.slice(0, -1)}`);
      else found.push(`${repository}/${path}`);
    }
  }
  return found;
}

/** Looks at files without following a link on the way, because what is behind it lies elsewhere. */
class RealDirectories {
  readonly #root: string;
  readonly #real = new Map<string, boolean>();

  constructor(root: string) {
    this.#root = root;
  }

  /** Undefined if nothing is there. */
  look(path: string): Stats | undefined {
    try {
      return this.#isReal(dirname(path)) ? lstatSync(join(this.#root, path)) : undefined;
    } catch {
      return undefined;
    }
  }

  #isReal(directory: string): boolean {
    if (directory === ".") return true;
    const known = this.#real.get(directory);
    if (known !== undefined) return known;
    const real = this.#isReal(dirname(directory)) && isDirectory(join(this.#root, directory));
    this.#real.set(directory, real);
    return real;
  }
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** True for files that the server itself writes, even during a restore. */
function isOurs(path: string): boolean {
  const name = basename(path);
  if (name.startsWith(temporaryPrefix)) return true;
  return (
    path === intentMapFile || (dirname(path) === ledgerDirectory && (isLedgerFileName(name) || name === ".gitignore"))
  );
}

/** Entries of a NUL-terminated list, without names that are not UTF-8, which nothing else here can handle. */
export function entriesOf(listed: Buffer): readonly string[] {
  return listed
    .toString("utf8")
    .split("\0")
    .filter((entry) => entry !== "" && !entry.includes("\ufffd"));
}
