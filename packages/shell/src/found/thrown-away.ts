import { createHash, hash } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { git } from "@gennai/git/run/run-git";
import { giveWay } from "@gennai/machine/entries/give-way";
import { objectOf } from "@gennai/machine/git-data/git-index";
import type { GitContent } from "./found-in-git.ts";
import type { FoundInTree } from "./found-in-tree.ts";
import type { StagedWork } from "./staged-work.ts";

/**
 * What of a file with these bytes may be the user's own: digests of contents that the session found and left since, the newest
 * last. If one of them was committed, nothing of the user's is only there. Undefined if the session made the file.
 *
 * @param path relative to the workspace
 */
export type UsersContents = (path: string, sha256: string) => readonly string[] | undefined;

/** For a run without a session. */
export const allTheUsers: UsersContents = (_path, sha256) => [sha256];

/** Bytes of a file that are compared with what git has. */
const maxCompared = 64 * 1024 * 1024;
/** With more paths, git looks at all of the work tree. */
const manyPaths = 300;

/**
 * The changes after which work of the user's is nowhere but in undo, and to which nobody agreed by the file's name: bytes never
 * committed, of a file that is gone, empty, or as git knew it. Other contents are edits. What the command moved, stashed or
 * committed is still there.
 *
 * @param contents what git's index and new commits hold after the command
 */
export async function thrownAway(
  work: StagedWork,
  found: readonly FoundInTree[],
  contents: readonly GitContent[],
  usersContents: UsersContents,
): Promise<ReadonlySet<FoundInTree>> {
  if (work.repository === undefined) return new Set();
  const held = new Set(contents.flatMap(({ after }) => after?.object ?? []));
  const [anyObject = ""] = held;
  const moved = new Set(contents.map(({ path }) => path));
  const ended: Ended[] = [];
  for (const one of found) {
    const { before, after, movedTo } = one.effect;
    const name = relative(work.top, one.write.path.absolute);
    if (before?.type !== "file" || before.size === 0 || before.sha256 === undefined || movedTo !== undefined) continue;
    if (one.write.found?.ignored === true || name.startsWith("../")) continue;
    // Who let the command run read the file's name in it.
    if (work.agreed.named.some(({ absolute }) => absolute === one.write.path.absolute)) continue;
    if (after?.type === "file" && after.sha256 === before.sha256) continue;
    const users = usersContents(one.write.path.relative, before.sha256);
    if (users === undefined) continue;
    await giveWay();
    const recorded = work.recorded(one.write.path.absolute)?.object;
    const objectsOf = (bytes: Buffer | undefined) => objectsFor(bytes, recorded ?? anyObject);
    const were = before.size > maxCompared ? [] : objectsOf(work.before(one.effect));
    if (were.some((object) => held.has(object) || (object === recorded && !moved.has(name)))) continue;
    const isGone = after?.type !== "file" || after.size === 0 || after.size > maxCompared;
    ended.push({ one, users, left: isGone ? undefined : objectsOf(work.staged(one.effect)) });
  }
  const thrown = new Set<FoundInTree>();
  for (const [top, inOne] of Map.groupBy(ended, ({ one }) => repositoryOf(one.write.path.absolute, work.top))) {
    // Where git cannot say, a person does.
    const lost = await thrownIn(top, inOne).catch(() => inOne.map(({ one }) => one));
    for (const one of lost) thrown.add(one);
  }
  return thrown;
}

/**
 * Absolute paths at which the index held bytes of the user's that neither a commit, the index nor the file has after the command:
 * the entry is gone, or as the last commit has it.
 */
export async function thrownFromIndex(
  work: StagedWork,
  contents: readonly GitContent[],
  usersContents: UsersContents,
): Promise<readonly string[]> {
  const held = new Set(contents.flatMap(({ after }) => after?.object ?? []));
  const ended = work.git.flatMap((effect) =>
    effect.type === "index" && work.isOfOwnTree(effect, effect.worktree)
      ? effect.changes.flatMap(({ path, from, to }) => {
          const absolute = join(work.top, path);
          if (from === undefined || from.intentToAdd || path.includes("\0") || held.has(from.object)) return [];
          if (work.agreed.named.some((one) => one.absolute === absolute)) return [];
          return objectsFor(work.shown(absolute), from.object).includes(from.object)
            ? []
            : [{ path, absolute, from, to }];
        })
      : [],
  );
  if (ended.length === 0) return [];
  const committed = await committedObjects(
    work.top,
    ended.map(({ path }) => path),
  );
  const thrown: string[] = [];
  for (const { path, absolute, from, to } of ended) {
    const last = committed.get(path);
    if (last === from.object || (to !== undefined && to.object !== last)) continue;
    if (await isUsers(work, { absolute, object: from.object }, usersContents)) thrown.push(absolute);
  }
  return thrown;
}

/** Whether bytes in the index are none that the session wrote to the file. */
async function isUsers(
  work: StagedWork,
  { absolute, object }: { readonly absolute: string; readonly object: string },
  usersContents: UsersContents,
): Promise<boolean> {
  const now = work.now(absolute);
  if (now === undefined) return true;
  const known = usersContents(work.workspacePath(absolute).relative, hash("sha256", now, "hex"));
  const { code, stdout } = await git(["cat-file", "blob", object], { directory: work.top });
  return known !== undefined && (code !== 0 || known.indexOf(hash("sha256", stdout, "hex")) <= 0);
}

/** By path, what the last commit has there. */
async function committedObjects(directory: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const asked = names.length > manyPaths ? ["-r", "HEAD"] : ["HEAD", "--", ...names];
  const { stdout } = await git(["ls-tree", "-z", "--full-tree", ...asked], { directory });
  const wanted = new Set(names);
  const entries = stdout.split("\0").map((line) => /^\d+ \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []);
  return new Map(entries.flatMap(([, object = "", name = ""]) => (wanted.has(name) ? [[name, object]] : [])));
}

/** Those in one repository, or in one within it. */
async function thrownIn(top: string, ended: readonly Ended[]): Promise<readonly FoundInTree[]> {
  const nameOf = ({ one }: Ended): string => relative(top, one.write.path.absolute);
  const left = ended.flatMap((each) => each.left ?? []);
  const known = await knownObjects(top, left);
  const gone = ended.filter((each) => each.left === undefined || each.left.some((object) => known.has(object)));
  const isUncommitted = await uncommitted(top, gone.map(nameOf));
  const thrown: FoundInTree[] = [];
  for (const each of gone) {
    const name = nameOf(each);
    const { one, users } = each;
    if (isUncommitted(name) && (users.length === 1 || !(await isCommitted(top, name, users)))) thrown.push(one);
  }
  return thrown;
}

/** The nearest directory above a path that has a repository. */
function repositoryOf(path: string, top: string): string {
  let directory = dirname(path);
  while (directory !== top && !existsSync(join(directory, ".git"))) directory = dirname(directory);
  return directory;
}

interface Ended {
  readonly one: FoundInTree;
  readonly users: readonly string[];
  /** Names of the objects that the file may be now; undefined if it is gone or empty. */
  readonly left: readonly string[] | undefined;
}

/** Names of these bytes in git, which may keep line ends of other systems as its own. */
function objectsFor(bytes: Buffer | undefined, like: string): readonly string[] {
  if (bytes === undefined) return [];
  const normalised = Buffer.from(bytes.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
  return [...new Set([bytes, normalised].map((each) => objectOf(each, like)))];
}

/** Those that the repository had before the command, in a commit or not. */
async function knownObjects(directory: string, objects: readonly string[]): Promise<ReadonlySet<string>> {
  if (objects.length === 0) return new Set();
  const { stdout } = await git(["cat-file", "--batch-check"], { directory, input: `${objects.join("\n")}\n` });
  return new Set(stdout.split("\n").flatMap((line) => /^([0-9a-f]+) blob /.exec(line)?.[1] ?? []));
}

/** Asks git, which knows of line ends and filters, what of the user's is in no commit. */
async function uncommitted(directory: string, names: readonly string[]): Promise<(name: string) => boolean> {
  if (names.length === 0) return () => false;
  const status = ["--literal-pathspecs", "status", "--porcelain", "-z", "-uall", "--no-renames"];
  const asked = names.length > manyPaths ? [] : names;
  const { code, stdout, stderr } = await git([...status, "--", ...asked], { directory });
  if (code !== 0) throw new Error(`git status failed: ${stderr.slice(0, 300)}`);
  const whole = new Set(stdout.split("\0").map((line) => line.slice("XY ".length)));
  return (name) => whole.has(name);
}

/** Whether the last commit has one of these contents at the path. */
async function isCommitted(directory: string, name: string, contents: readonly string[]): Promise<boolean> {
  const { code, stdout } = await git(["cat-file", "blob", `HEAD:${name}`], { directory });
  const forms = [stdout, stdout.replaceAll("\n", "\r\n")];
  return code === 0 && forms.some((text) => contents.includes(createHash("sha256").update(text).digest("hex")));
}
