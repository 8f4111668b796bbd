import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { objectOf } from "@gennai/machine/git-data/git-index";
import { pathsInGit } from "@gennai/machine/git-data/git-path";
import { ownIndex, rebuiltIndex } from "@gennai/machine/git-data/rebuilt-index";
import type { RepositoryPaths } from "@gennai/machine/host/repository-paths";
import { isWithin } from "@gennai/protocol/is-within";
import { neverKept, type StageEffect } from "@gennai/stage/observe/effect";
import type { Stage } from "@gennai/stage/stage";
import { stageParts } from "@gennai/stage/transaction/staged-root";
import type { GitOnStage } from "./git-on-stage.ts";

/** With more paths, git looks at all of the work tree, which is faster. */
const manyPaths = 300;

/** File with the index that the user will have if what the run left is kept; undefined if the run left the index alone. */
export function indexToHave({ transaction }: Stage, { writable }: RepositoryPaths): string | undefined {
  const path = join(writable.at(-1) ?? "", "index");
  const root = transaction.roots.find((each) => isWithin(path, { directory: each.path }));
  if (root === undefined) return undefined;
  const left = join(root.directory, stageParts.upper, relative(root.path, path));
  if (statIfPresent(left)?.isFile() !== true) return undefined;
  const rebuilt = rebuiltIndex(readFileSync(left), ownIndex(path));
  if (rebuilt === undefined) return undefined;
  const file = join(root.directory, "index");
  writeFileSync(file, rebuilt, { mode: 0o600 });
  return file;
}

/**
 * The changes of files that the user's `git status` will not show although the files differ from the last commit: an entry of
 * the index says that they are unchanged, rules ignore them, git takes them for equal, or they lie where git does not look.
 */
export async function unshownChanges(
  stage: Stage,
  git: GitOnStage,
  effects: readonly StageEffect[],
): Promise<ReadonlySet<StageEffect>> {
  const { roots } = stage.transaction;
  const inGit = roots.map(({ path }) => pathsInGit(path));
  const placeOf = ({ root, path }: StageEffect): string => join(roots[root]?.path ?? "/", path);
  const repositories = new Map<string, Map<string, StageEffect>>();
  await stage.change(async (merged) => {
    const seen = (path: string): string => join(merged, relative(roots[0]?.path ?? "/", path));
    for (const effect of effects) {
      const [path, entry] = [placeOf(effect), effect.after ?? effect.before];
      const isJudged = entry?.type !== "directory" && inGit[effect.root]?.(effect.path) === undefined;
      if (
        !isJudged ||
        !isWithin(path, { directory: git.workTree }) ||
        effect.flags.some((flag) => neverKept.includes(flag))
      )
        continue;
      // One by one: an entry that is gone from a stage must not spare the others there.
      if (effect.after !== undefined && statIfPresent(seen(path)) === undefined) continue;
      let repository = dirname(path);
      while (repository !== git.workTree && statIfPresent(seen(join(repository, ".git"))) === undefined)
        repository = dirname(repository);
      const changed = repositories.get(repository) ?? new Map<string, StageEffect>();
      repositories.set(repository, changed.set(relative(repository, path), effect));
    }
  });
  const unshown: StageEffect[] = [];
  for (const [repository, changed] of repositories) {
    const asked = changed.size > manyPaths ? [] : [...changed.keys()];
    const lines = await git.list(repository, status, asked);
    // That git will no longer have a file says nothing of what is in it.
    const saysAll = (line: string) =>
      !line.startsWith("D  ") || changed.get(line.slice("XY ".length))?.after === undefined;
    const shown = new Set(lines?.filter(saysAll).map((line) => line.slice("XY ".length)));
    const others = new Map([...changed].filter(([name]) => !shown.has(name)));
    const heads = await headsOf(git, repository, [...others.keys()]);
    for (const [name, effect] of others) {
      const head = heads.get(name);
      const bytes = bytesOf(effect, roots[effect.root]?.directory ?? "/");
      if (head === undefined || bytes === undefined) {
        if (head !== undefined || effect.after !== undefined) unshown.push(effect);
      } else if (!hasMode(effect, head.mode)) unshown.push(effect);
      else if (objectOf(bytes, head.object) !== head.object) {
        // Git may write other bytes than it keeps, e.g. other line ends.
        const written = await git.ask(repository, [...trueObjects, "cat-file", "--filters", `HEAD:${name}`]);
        if (written?.equals(bytes) !== true) unshown.push(effect);
      }
    }
  }
  return new Set(unshown);
}

const status = [
  "--literal-pathspecs",
  "status",
  "--porcelain",
  "-z",
  "-uall",
  "--no-renames",
  "--ignore-submodules=none",
  "--",
];
const trueObjects = ["--no-replace-objects"];

/** What the last commit holds at these paths. */
async function headsOf(
  git: GitOnStage,
  repository: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, { readonly mode: string; readonly object: string }>> {
  if (names.length === 0) return new Map();
  const lines = (await git.list(repository, [...trueObjects, "ls-tree", "-z", "HEAD", "--"], names)) ?? [];
  return new Map(
    lines.map((line) => {
      const [mode = "", , object = ""] = line.split(/[ \t]/);
      return [line.slice(line.indexOf("\t") + 1), { mode, object }];
    }),
  );
}

/** Bytes of the file, or target of the link, that the run left; undefined if there is none, or it cannot be read. */
function bytesOf({ path, after }: StageEffect, directory: string): Buffer | undefined {
  if (after?.type === "link") return Buffer.from(after.target);
  return after?.type === "file" && after.sha256 !== undefined
    ? readFileSync(join(directory, stageParts.upper, path))
    : undefined;
}

/** Whether the entry is what git's mode says, or as executable as it was: some file systems have no such bit. */
function hasMode({ before, after }: StageEffect, mode: string): boolean {
  if (after?.type !== "file") return after?.type === "link" && mode === "120000";
  const isRun = (after.mode & 0o100) !== 0;
  const wasRun = before?.type === "file" && (before.mode & 0o100) !== 0;
  return mode === (isRun ? "100755" : "100644") || (before?.type === "file" && isRun === wasRun && mode !== "120000");
}
