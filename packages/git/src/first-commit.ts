import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { ServiceError } from "@gennai/machine/service-error";
import { ignoredPaths } from "./ignored-paths.ts";
import { confirmedRepository } from "./run/confirmed-repository.ts";
import { machineGit } from "./run/machine-git.ts";
import { readWhole } from "./run/read-whole.ts";
import { type GitResult, type GitTarget, git, openGit } from "./run/run-git.ts";

/** The content of a planned first commit. */
export interface FirstCommit {
  /** Files that git does not ignore, relative to the directory, in order. */
  readonly files: readonly string[];
  /** Files that git does not ignore, but that are excluded. */
  readonly leftOut: readonly string[];
  /** Digest over the names of all committed files. */
  readonly sha256: string;
  /** The branch that the commit would be on. */
  readonly branch: string;
}

/** Nobody reads a longer list before agreeing. */
export const maxFirstCommitFiles = 2_000;

const message = "First commit";

/**
 * The planned content of a repository's first commit; undefined if there is a commit already, no branch, no repository, or
 * nothing to commit. Files that a filter would change (git-crypt, LFS) are excluded: filters are programs, and none is started
 * here. Throws `ServiceError` (`cannot_commit`) if there are more than `maxFirstCommitFiles`.
 * @param directory absolute
 * @param staysOut whether a file, by its path relative to the directory, is excluded
 */
export async function planFirstCommit(
  directory: string,
  { staysOut, signal }: { readonly staysOut: (path: string) => boolean; readonly signal: AbortSignal },
): Promise<FirstCommit | undefined> {
  const head = readGitHead(directory);
  if (head.type !== "branch" || head.commit !== undefined) return undefined;
  const listed = await git(["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    directory,
    signal,
  }).catch((error: unknown) => {
    throw error instanceof RangeError ? tooMany("far too many") : error;
  });
  if (listed.code !== 0) return undefined;
  const paths = [...new Set(entriesOf(listed.stdout))].toSorted();
  if (paths.length > maxFirstCommitFiles) throw tooMany(String(paths.length));
  const root = realpathSync(directory);
  // Files staged before but now missing or ignored stay staged, and are not committed.
  const present = paths.filter((path) => isThere(root, path));
  const [ignored, filtered] = await Promise.all([ignoredPaths(root, present), filteredPaths(root, present)]);
  const files: string[] = [];
  const leftOut: string[] = [];
  for (const path of present) {
    if (ignored.has(path)) continue;
    // A name with a slash at its end is a repository of its own.
    (path.endsWith("/") || staysOut(path) || filtered.has(path) ? leftOut : files).push(path);
  }
  if (files.length === 0) return undefined;
  const sha256 = createHash("sha256")
    .update(JSON.stringify([head.branch, files]))
    .digest("hex");
  return { files, leftOut, sha256, branch: head.branch };
}

/**
 * Commits these files and nothing else: staged files as they are staged, the others as they are. The commit is built next to the
 * repository's index, which only gains what was committed. No hooks run. Throws `ServiceError` (`cannot_commit`); then commit,
 * branch and index are as before. @returns the commit
 */
export async function makeFirstCommit(directory: string, { files, branch }: FirstCommit): Promise<string> {
  const [data] = confirmedRepository(realpathSync(directory), homedir())?.data ?? [];
  if (data === undefined) throw cannotCommit("there is no repository");
  // In git's data, where git may write in its sandbox.
  const beside = mkdtempSync(join(data, "gennai-first-commit-"));
  try {
    const place: GitTarget = { directory, writes: "working-tree", index: join(beside, "index") };
    const entries = await builtIndex(place, files);
    const tree = (await run(["write-tree"], place)).stdout.trim();
    const commit = (await run(["commit-tree", tree, "-m", message], place)).stdout.trim();
    const ref = `refs/heads/${branch}`;
    await run(["update-ref", "-m", "commit (initial): First commit", ref, commit, "0".repeat(commit.length)], place);
    try {
      await addEntries({ directory, writes: "working-tree" }, entries);
    } catch (error) {
      await run(["update-ref", "-d", ref, commit], place);
      throw error;
    }
    return commit;
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

/** Fills an empty index. @returns the entries that the repository's own index lacks, as git lists them */
async function builtIndex(place: GitTarget, files: readonly string[]): Promise<readonly string[]> {
  const { directory } = place;
  const wanted = new Set(files);
  const staged = await stagedEntries({ directory }, directory, wanted);
  await addEntries(place, [...staged.values()]);
  const others = files.filter((path) => !staged.has(path));
  if (others.length > 0) {
    const args = ["--literal-pathspecs", "add", "--pathspec-from-file=-", "--pathspec-file-nul"];
    await run(args, place, others.map((path) => `${path}\0`).join(""));
  }
  // A file may have become a directory since the list was made, or a link to one.
  const held = entriesOf((await run(["ls-files", "-z"], place)).stdout);
  if (held.length !== wanted.size || held.some((path) => !wanted.has(path))) {
    throw cannotCommit("its files became others meanwhile");
  }
  const all = entriesOf((await run(["ls-files", "-z", "--stage", "--full-name"], place)).stdout);
  const known = new Set(staged.values());
  return all.filter((entry) => !known.has(entry));
}

/** Staged entries by their paths relative to the directory, in git's format with paths from the top. */
async function stagedEntries(
  place: GitTarget,
  directory: string,
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const [named, whole] = await Promise.all([
    run(["ls-files", "-z", "--stage"], place),
    run(["ls-files", "-z", "--stage", "--full-name"], place),
  ]);
  const entries = entriesOf(whole.stdout);
  return new Map(
    entriesOf(named.stdout).flatMap((line, index) => {
      const [, mode, id = "", stage, path = ""] = /^(\d+) ([0-9a-f]+) (\d)\t([^]*)$/.exec(line) ?? [];
      const entry = entries[index];
      if (entry === undefined || !wanted.has(path) || stage !== "0") return [];
      // For a file added with `git add --intent-to-add`, git lists an empty blob.
      if (emptyBlobs.has(id)) return [];
      const isRepository = lstatSync(join(directory, path), { throwIfNoEntry: false })?.isDirectory() ?? false;
      return isRepository === (mode === "160000") ? [[path, entry] as const] : [];
    }),
  );
}

const emptyBlobs: ReadonlySet<string> = new Set([
  "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
  "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
]);

async function addEntries(place: GitTarget, entries: readonly string[]): Promise<void> {
  if (entries.length === 0) return;
  await run(["update-index", "--replace", "-z", "--index-info"], place, entries.map((entry) => `${entry}\0`).join(""));
}

function entriesOf(listed: string): readonly string[] {
  return listed.split("\0").slice(0, -1);
}

/** Whether git would find the path: it follows no links, and a directory counts only if it is a repository of its own. */
function isThere(root: string, path: string): boolean {
  const parent = join(root, dirname(path));
  try {
    const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (stat === undefined || realpathSync(parent) !== parent) return false;
    return !stat.isDirectory() || existsSync(join(root, path, ".git"));
  } catch {
    // E.g. a directory above it is a file now.
    return false;
  }
}

/** Throws `ServiceError` (`cannot_commit`) if git fails. */
async function run(args: readonly string[], place: GitTarget, input = ""): Promise<GitResult> {
  const running = await openGit(args, place);
  running.stdin.on("error", () => {
    // Git ended before it read all its input; its exit code says why.
  });
  running.stdin.end(input);
  const { code = -1, output, errors } = await readWhole(running);
  if (code !== 0) throw cannotCommit(errors.trim());
  return { code, stdout: output.toString("utf8"), stderr: errors };
}

function cannotCommit(
  why: string,
  hint = 'Where git asks who you are: git config --global user.name "…", and user.email. Or commit it yourself.',
): ServiceError {
  return new ServiceError("failed_precondition", `The first commit could not be made: ${why}`, {
    reason: "cannot_commit",
    hint,
  });
}

function tooMany(count: string): ServiceError {
  return cannotCommit(
    `${count} files would be in it, and nobody reads a list of more than ${maxFirstCommitFiles}.`,
    "Write a .gitignore first, for what is made or downloaded (node_modules, build). Or commit it yourself.",
  );
}

/**
 * Which of the paths have a filter by the repository's attributes or the user's own: git-crypt and LFS are such. What they would make of a file before it is
 * committed is made by a program, and nothing that a repository names is started here.
 * @param directory absolute path in a repository
 * @param paths relative to it, with `/`
 */
async function filteredPaths(directory: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const { attributesFile } = await (await machineGit()).userConfiguration(directory);
  const ofUser = existsSync(attributesFile) ? realpathSync(attributesFile) : undefined;
  const settings = ofUser === undefined ? [] : ["-c", `core.attributesFile=${ofUser}`];
  const running = await openGit([...settings, "check-attr", "-z", "--stdin", "filter"], {
    directory,
    alsoReads: ofUser,
  });
  running.stdin.on("error", () => {
    // Git ended before it read all its input; its exit code says why.
  });
  running.stdin.end(paths.map((path) => `${path}\0`).join(""));
  const { code, output, errors } = await readWhole(running);
  if (code !== 0) throw new Error(`git check-attr failed: ${errors.slice(0, 300)}`);
  const words = output.toString("utf8").split("\0");
  const filtered = new Set<string>();
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [path = "", , value = ""] = words.slice(at, at + 3);
    if (!noFilter.has(value)) filtered.add(path);
  }
  return filtered;
}

/** Values of the attribute that do not name a filter. */
const noFilter: ReadonlySet<string> = new Set(["unspecified", "unset", "set"]);
