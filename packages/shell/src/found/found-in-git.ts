import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { forgedObjects } from "@gennai/git/forged-objects";
import { newCommits } from "@gennai/git/new-commits";
import type { FileWrite, FoundTrait, GitChange } from "@gennai/governance/effect";
import { intentMapFile } from "@gennai/governance/ledger/ledger-directory";
import { controlPath } from "@gennai/governance/policies/files/control-paths";
import { objectOf } from "@gennai/machine/git-data/git-index";
import { errorMessage } from "@gennai/protocol/error-message";
import type { GitEffect } from "@gennai/stage/observe/git-effects";
import { NotObservable } from "@gennai/stage/transaction/stage-error";
import { onlyTracks } from "./only-tracks.ts";
import type { StagedWork } from "./staged-work.ts";

/** What a staged command did to the workspace's repository, and which other repositories it made. */
export function foundInGit(work: StagedWork): readonly (GitChange | FileWrite)[] {
  const others = work.git.filter((effect) => !work.isOwn(effect));
  const places = new Set(
    others
      .map(({ root, repository }) => work.absolute({ root, path: repository }))
      .filter((git) => !work.isModuleLink(git)),
  );
  return [
    ...[...places].map((git): FileWrite => {
      const isNew = lstatSync(git, { throwIfNoEntry: false }) === undefined;
      return foundWrite(work, git, { operation: isNew ? "create" : "update", trait: "nested-repository" });
    }),
    ...work.git.filter((effect) => work.isOwn(effect)).flatMap((effect) => gitChange(effect, work)),
  ];
}

/** Object files that do not contain what their names say: they would change what existing commits hold. */
export async function foundForged(work: StagedWork): Promise<readonly GitChange[]> {
  const found: GitChange[] = [];
  for (const effect of work.git) {
    if (effect.type !== "objects" || !work.isOwn(effect)) continue;
    const files = new Map(effect.files.map((path) => [work.placeOf({ root: effect.root, path }), path]));
    for (const forged of await forgedObjects([...files.keys()])) {
      const name = files.get(forged) ?? forged;
      found.push({ type: "git", what: "control", name, from: undefined, to: undefined, agreed: false });
    }
  }
  return found;
}

/** What git's index, or a new commit, holds at one path. */
export interface GitContent {
  /** From the top of the work tree. */
  readonly path: string;
  /** Undefined if the path is removed. */
  readonly after: GitEntry | undefined;
}

/** What changed in git's index, and in commits that no ref led to before the command. Rejects with `NotObservable`. */
export async function gitContents(work: StagedWork, home: string): Promise<readonly GitContent[]> {
  // The content of a submodule is judged by its own files.
  const own = work.git.filter((effect) => work.isOwn(effect) && !isOfModule(effect));
  const inIndex = own.flatMap((effect) => (effect.type === "index" ? effect.changes : []));
  const tips = own.flatMap((effect) => {
    const to = effect.type === "ref" || effect.type === "head" ? effect.to : undefined;
    return to !== undefined && objectId.test(to) ? [to] : [];
  });
  const newest = { tips: [...new Set(tips)], objects: work.newObjects, home };
  const committed = await newCommits(work.workspaceRoot, newest).catch((cause: unknown) => {
    // E.g. a tag that points to a file.
    throw new NotObservable(`The command's branches and tags cannot be read: ${errorMessage(cause)}.`, { cause });
  });
  // An unmerged path has several entries.
  return [...inIndex.map(({ path, to }) => ({ path: path.split("\0", 1)[0] ?? "", after: to })), ...committed];
}

/**
 * Judges what git holds as if it were written to files; content that the tree does not show has the trait `only-in-index`.
 *
 * @param judged absolute paths that are judged already, as the tree shows them
 */
export function foundInContents(
  work: StagedWork,
  contents: readonly GitContent[],
  judged: ReadonlySet<string>,
): readonly FileWrite[] {
  const found = new Map<string, FileWrite>();
  for (const { path, after } of contents) {
    const absolute = join(work.top, path);
    const trait = traitOf(work, path, after);
    // The server's own file is in no intent's scope, and `git add .` adds it.
    const isOurs = absolute === join(work.workspaceRoot, intentMapFile);
    if (trait === undefined && (isOurs || judged.has(absolute) || found.has(absolute))) continue;
    const isThere = work.isTracked(absolute) || work.shown(absolute) !== undefined;
    const operation = after === undefined ? "delete" : isThere ? "update" : "create";
    found.set(absolute, foundWrite(work, absolute, { operation, trait }));
  }
  return [...found.values()];
}

/** @param absolutes paths at which the index held what is nowhere else now */
export function foundThrown(work: StagedWork, absolutes: readonly string[]): readonly FileWrite[] {
  return absolutes.map((absolute) => {
    const write = foundWrite(work, absolute, { operation: "update", trait: undefined });
    return { ...write, found: write.found && { ...write.found, thrownAway: true } };
  });
}

const objectId = /^[0-9a-f]+$/;

interface GitEntry {
  readonly mode: string;
  /** Hex. */
  readonly object: string;
}

function traitOf(work: StagedWork, name: string, after: GitEntry | undefined): FoundTrait | undefined {
  if (after?.mode === "160000") return "nested-repository";
  // Where a link leads is judged in the tree.
  const isJudged = controlPath(name) === undefined && after?.mode !== "120000";
  if (isJudged || isShown(work, join(work.top, name), after)) return undefined;
  return "only-in-index";
}

/** Whether the tree shows the entry there. Git may convert a file's line ends to those of other systems. */
function isShown(work: StagedWork, absolute: string, entry: GitEntry | undefined): boolean {
  const bytes = work.shown(absolute);
  if (bytes === undefined || entry === undefined) return bytes === undefined && entry === undefined;
  const isLink = entry.mode === "120000";
  // A file whose text is a link's target has the link's object.
  if (isLink !== work.isLink(absolute)) return false;
  if (isLink) return objectOf(bytes, entry.object) === entry.object;
  const normalised = Buffer.from(bytes.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
  return [bytes, normalised].some((each) => objectOf(each, entry.object) === entry.object);
}

function foundWrite(
  work: StagedWork,
  absolute: string,
  { operation, trait }: { readonly operation: FileWrite["operation"]; readonly trait: FoundTrait | undefined },
): FileWrite {
  return {
    type: "write",
    operation,
    path: work.workspacePath(absolute),
    base: undefined,
    current: undefined,
    found: {
      // Content that the tree shows was judged there, or is the user's own.
      agreed: trait === undefined && operation !== "create",
      tracked: false,
      ignored: false,
      traits: trait === undefined ? [] : [trait],
      // The tree itself does not change.
    },
  };
}

function gitChange(effect: GitEffect, work: StagedWork): readonly GitChange[] {
  const { gitState, gitMoves, gitNames } = work.agreed;
  const inGit = (path: string): string => `${effect.repository === "" ? ".git" : effect.repository}/${path}`;
  const change = (what: GitChange["what"], name: string, agreed: boolean): GitChange => ({
    type: "git",
    what,
    name,
    from: "from" in effect ? effect.from : undefined,
    to: "to" in effect ? effect.to : undefined,
    agreed,
  });
  const other = isOfModule(effect) ? undefined : pathInOtherTree(effect, work);
  if (other !== undefined) return [change("control", inGit(other), gitState)];
  switch (effect.type) {
    case "ref": {
      if (work.usesLogin && /^refs\/remotes\//.test(effect.name)) return [change("ref", effect.name, true)];
      const isNamed = gitNames.includes(effect.name.replace(/^refs\/heads\//, ""));
      return [change("ref", effect.name, gitState || isNamed || work.movesOwnBranch(effect))];
    }
    case "head": {
      if (isOfModule(effect) && isAsRecorded(effect, work)) return [];
      return [change("head", "HEAD", gitMoves || gitState)];
    }
    case "reflog": {
      if (!effect.shrinks) return [];
      const isOwn = work.git.some(
        (one) =>
          one.type === "ref" &&
          one.name === effect.name &&
          one.repository === effect.repository &&
          one.to === undefined &&
          work.movesOwnBranch(one),
      );
      return [change("reflog", effect.name, gitState || isOwn || work.popsOwnStash(effect))];
    }
    case "control":
      if (effect.path === "config" && isTracking(effect, work)) return [];
      return [change("control", inGit(effect.path), gitState && /^(?:config|modules|worktrees)/.test(effect.path))];
    case "unreadable":
      return [change("unreadable", inGit(effect.path), false)];
    case "work":
      if (runsWhenGoingOn(effect, work)) return [change("control", inGit(effect.path), gitState)];
      return isIdle(effect, work) ? [] : [change("operation", inGit(effect.path), gitState || gitMoves)];
    case "index":
    case "objects":
      return [];
  }
}

/** Path in git's directory if the effect is on the state or index of another work tree; undefined otherwise. */
function pathInOtherTree(effect: GitEffect, work: StagedWork): string | undefined {
  let path: string;
  if (effect.type === "head" || effect.type === "index") {
    const name = effect.type === "head" ? "HEAD" : "index";
    path = effect.worktree === undefined ? name : `worktrees/${effect.worktree}/${name}`;
  } else if (effect.type === "work" && ofOneTree.test(effect.path)) path = effect.path;
  else return undefined;
  return work.isOfOwnTree(effect, /^worktrees\/([^/]+)\//.exec(path)?.[1]) ? undefined : path;
}

const ofOneTree = /^(?:worktrees\/[^/]+\/)?(?:[A-Z_]+_[A-Z]+$|AUTO_MERGE$|rebase-(?:merge|apply)\/|sequencer\/)/;

/** True for an effect on a submodule whose data lies in that of the repository around it. */
function isOfModule({ repository }: GitEffect): boolean {
  return /(?:^|\/)modules\//.test(repository);
}

/** True if HEAD moves from no branch to the commit that the repository around it records for the submodule. */
function isAsRecorded({ from, to }: GitEffect & { readonly type: "head" }, work: StagedWork): boolean {
  return to !== undefined && (from === undefined || objectId.test(from)) && work.isRecordedCommit(to);
}

/** True for the files of a rebase whose list has commands that run when the rebase goes on. */
function runsWhenGoingOn({ root, repository, path }: GitEffect & { readonly type: "work" }, work: StagedWork): boolean {
  if (!/^(?:worktrees\/[^/]+\/)?(?:rebase-merge|rebase-apply|sequencer)\//.test(path)) return false;
  const text = textOf({ root, repository }, work, path);
  if (text === undefined) return false;
  const [, strategy] = path.endsWith("/strategy") ? [text, text] : (/^\s*strategy\s*=(.*)$/m.exec(text) ?? []);
  return /^\s*(?:x|exec)\b/m.test(text) || (strategy !== undefined && !strategies.has(strategy.trim()));
}

/** Whether the file begins and ends nothing, or is gone. */
function isIdle({ root, repository, path }: GitEffect & { readonly type: "work" }, work: StagedWork): boolean {
  return idle.test(path) || work.shown(work.absolute({ root, path: join(repository, path) })) === undefined;
}

const idle = /^(?:worktrees\/[^/]+\/)?(?:AUTO_MERGE|(?:ORIG|FETCH|REBASE)_HEAD)$/;

/** Git's own merge strategies; any other name is a program. */
const strategies: ReadonlySet<string> = new Set(["ort", "recursive", "resolve", "octopus", "ours", "subtree"]);

function isTracking({ root, repository, path }: GitEffect & { readonly type: "control" }, work: StagedWork): boolean {
  const after = textOf({ root, repository }, work, path);
  const file = work.absolute({ root, path: join(repository, path) });
  const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return after !== undefined && isFile && onlyTracks(readFileSync(file, "utf8"), after);
}

/** Text of a file in git's data, as the command left it. */
function textOf(
  { root, repository }: Pick<GitEffect, "root" | "repository">,
  work: StagedWork,
  path: string,
): string | undefined {
  return work.shown(work.absolute({ root, path: join(repository, path) }))?.toString("utf8");
}
