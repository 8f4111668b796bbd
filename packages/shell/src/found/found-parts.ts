import { join } from "node:path";
import type { Effect, FileWrite, GitChange } from "@gennai/governance/effect";
import { shownName, shownNames } from "@gennai/governance/shown-names";
import type { FoundPart } from "@gennai/governance/tool";
import { digestOf } from "@gennai/protocol/digest";
import type { StageEffect } from "@gennai/stage/observe/effect";
import type { GitContent } from "./found-in-git.ts";
import type { FoundInTree } from "./found-in-tree.ts";
import { Groups } from "./groups.ts";
import type { StagedWork } from "./staged-work.ts";

/** The parts of a staged command's work, each of which is kept or dropped as a whole. */
export interface StagedParts {
  readonly parts: readonly FoundPart[];
  /** SHA-256 of everything that is to be kept. */
  readonly digest: string;
  /** The effects to keep when some parts are dropped; directories are kept with their content. @param dropped ids */
  effectsWithout(dropped: ReadonlySet<string>): readonly StageEffect[];
  /** The effects of one part. @param id of a part */
  effectsOf(id: string): readonly StageEffect[];
}

export interface FoundWork {
  readonly inTree: readonly FoundInTree[];
  readonly inGit: readonly (GitChange | FileWrite)[];
  /** What git's index and new commits hold. */
  readonly contents: readonly GitContent[];
}

/** More parts are joined by directories, because nobody reads so many. */
const maxParts = 100;
/** The part for everything in git's data. No judged file has this name. */
const git = ".git";

/**
 * Each file is a part, and git's data is one part. What makes no sense alone stays together: the old and the new name of a file,
 * all names of one file, a directory and what replaces it, a directory that git ignores, e.g. `node_modules`. Git's part needs
 * the files that its index and its new commits hold; after a stash or a move of HEAD, it is one part with them. A tag, or a branch
 * that HEAD is not on, is a part that needs git's.
 */
export function foundParts(work: StagedWork, { inTree, inGit, contents }: FoundWork): StagedParts {
  const keys = new Map<StageEffect, string>();
  for (const effect of work.effects)
    if (work.isInGit(effect)) keys.set(effect, work.repositoryOf(effect) ?? work.refOf(effect) ?? git);
  for (const { effect } of inTree) keys.set(effect, work.absolute(effect));
  const groups = new Groups();
  for (const key of keys.values()) groups.add(key);
  // Also for effects that can never be kept, because they are judged too.
  for (const effect of inGit) groups.add(keyInGit(effect, groups));
  const files = inTree.map(({ effect }) => effect);
  joinWhatBelongsTogether(work, files, groups);
  const trees = joinIgnoredTrees(work, inTree, groups);
  const held = heldByGit(work, contents, groups);
  if (work.git.some((effect) => work.isOwn(effect) && takesFilesAlong(effect)))
    for (const key of held) groups.join(git, key);
  if (groups.size > maxParts) joinDirectories(work, files, groups);

  const members = new Map<string, StageEffect[]>(groups.has(git) ? [[groups.of(git), []]] : []);
  for (const [effect, key] of keys) {
    const group = groups.of(key);
    const others = members.get(group);
    if (others === undefined) members.set(group, [effect]);
    else others.push(effect);
  }
  const ids = new Map([...members].map(([group, effects]) => [group, digestOf(effects.map(whatItIs))]));
  const idOf = (key: string): string => ids.get(groups.of(key)) ?? "";
  const words = wordsOf(work, { inTree, inGit }, groups);
  const parts = [...members].map(([group, effects]): FoundPart => {
    const ofGit = groups.has(git) && groups.of(git) === group;
    const needs = ofGit ? held.map(idOf) : group.startsWith("refs/") && groups.has(git) ? [idOf(git)] : [];
    const id = idOf(group);
    return {
      id,
      name: nameOf(work, new Set(effects.map((effect) => keys.get(effect) ?? git)), trees),
      effects: words.get(group) ?? [],
      needs: [...new Set(needs)].filter((one) => one !== id),
    };
  });
  const others = work.effects.filter((effect) => !keys.has(effect));
  const byId = new Map([...members].map(([group, effects]) => [idOf(group), effects]));
  return {
    parts,
    effectsOf: (id) => byId.get(id) ?? [],
    digest: digestOf([parts.map(({ id }) => id), others.map(whatItIs)]),
    effectsWithout: (dropped) => {
      if (dropped.size === 0) return work.effects;
      const isDropped = (effect: StageEffect): boolean => dropped.has(idOf(keys.get(effect) ?? ""));
      const own = work.effects.filter((effect) => keys.has(effect));
      const kept = waysTo(
        work,
        own.filter((effect) => !isDropped(effect)),
      );
      const left = waysTo(work, own.filter(isDropped));
      return work.effects.filter((effect) => {
        if (keys.has(effect)) return !isDropped(effect);
        const path = work.absolute(effect);
        return kept.has(path) || !left.has(path);
      });
    },
  };
}

function joinWhatBelongsTogether(work: StagedWork, files: readonly StageEffect[], groups: Groups): void {
  const linked = files.filter(({ flags }) => flags.includes("hard-link"));
  const [first] = linked;
  for (const effect of linked) groups.join(work.absolute(first ?? effect), work.absolute(effect));
  const replaced = files.filter(({ before, after }) => before?.type === "directory" || after?.type === "directory");
  for (const effect of files) {
    const key = work.absolute(effect);
    const { root, movedFrom, movedTo } = effect;
    if (movedFrom !== undefined) groups.join(key, work.absolute({ root, path: movedFrom }));
    if (movedTo !== undefined) groups.join(key, work.absolute({ root, path: movedTo }));
    for (const other of replaced) {
      if (key.startsWith(`${work.absolute(other)}/`)) groups.join(key, work.absolute(other));
    }
  }
}

/** Joins the files of each ignored directory. @returns that directory for each such file */
function joinIgnoredTrees(
  work: StagedWork,
  inTree: readonly FoundInTree[],
  groups: Groups,
): ReadonlyMap<string, string> {
  const trees = new Map<string, string>();
  const firsts = new Map<string, string>();
  for (const { effect, ignoredTree } of inTree) {
    if (ignoredTree === undefined) continue;
    const key = work.absolute(effect);
    trees.set(key, ignoredTree);
    const first = firsts.get(ignoredTree);
    if (first === undefined) firsts.set(ignoredTree, key);
    else groups.join(key, first);
  }
  return trees;
}

/** Keys of the command's changes that git's index and new commits hold. */
function heldByGit(work: StagedWork, contents: readonly GitContent[], groups: Groups): readonly string[] {
  const keys = contents.map(({ path }) => join(work.top, path));
  const nested = contents
    .filter(({ after }) => after?.mode === "160000")
    .map(({ path }) => join(work.top, path, ".git"));
  return [...new Set([...keys, ...nested])].filter((key) => groups.has(key));
}

/**
 * True for a stash or a move of HEAD: without git's part, stashed changes would be lost, or files of one branch would be on
 * another.
 */
function takesFilesAlong(effect: StagedWork["git"][number]): boolean {
  return effect.type === "head" || (effect.type === "ref" && effect.name === "refs/stash");
}

/** Joins files by directories at the greatest depth that leaves few enough parts. */
function joinDirectories(work: StagedWork, files: readonly StageEffect[], groups: Groups): void {
  const keys = files.map((effect) => work.absolute(effect));
  const top = work.top.split("/").length;
  const directoryOf = (key: string, depth: number): string =>
    key
      .split("/")
      .slice(0, -1)
      .slice(0, top + depth)
      .join("/");
  const depth =
    [4, 3, 2, 1].find((each) => new Set(keys.map((key) => directoryOf(key, each))).size <= maxParts / 2) ?? 0;
  const first = new Map<string, string>();
  for (const key of keys) {
    const directory = directoryOf(key, depth);
    const other = first.get(directory);
    if (other === undefined) first.set(directory, key);
    else groups.join(key, other);
  }
}

/** The effects that rules judge, by group. */
function wordsOf(
  work: StagedWork,
  { inTree, inGit }: Pick<FoundWork, "inTree" | "inGit">,
  groups: Groups,
): ReadonlyMap<string, readonly Effect[]> {
  const found = new Map<string, Effect[]>();
  const add = (key: string, effect: Effect): void => {
    const others = found.get(groups.of(key));
    if (others === undefined) found.set(groups.of(key), [effect]);
    else others.push(effect);
  };
  for (const { effect, write } of inTree) add(work.absolute(effect), write);
  for (const effect of inGit) add(keyInGit(effect, groups), effect);
  return found;
}

/** The group of an effect in git; other repositories, and refs that HEAD is not on, are parts of their own. */
function keyInGit(effect: GitChange | FileWrite, groups: Groups): string {
  if (effect.type === "git") return groups.has(effect.name) ? effect.name : git;
  if (!effect.path.absolute.endsWith("/.git")) return git;
  return groups.has(effect.path.absolute) ? effect.path.absolute : git;
}

/** The absolute paths of these effects, and the directories above them. */
function waysTo(work: StagedWork, effects: readonly StageEffect[]): ReadonlySet<string> {
  const ways = new Set<string>();
  for (const effect of effects) {
    const path = work.absolute(effect);
    for (let end = path.length; end > 0 && !ways.has(path.slice(0, end)); end = path.lastIndexOf("/", end - 1)) {
      ways.add(path.slice(0, end));
    }
  }
  return ways;
}

function nameOf(work: StagedWork, keys: ReadonlySet<string>, trees: ReadonlyMap<string, string>): string {
  const named = (key: string): string => {
    const { inside, relative } = work.workspacePath(key);
    return inside ? relative : key;
  };
  const [tree, ...others] = new Set([...keys].map((key) => trees.get(key)));
  if (tree !== undefined && others.length === 0 && keys.size > 1) {
    return `${shownName(named(tree))}/ (${keys.size} files)`;
  }
  const shown = [...keys].slice(0, 3).map(named);
  if (keys.size <= shown.length) return shownNames(shown) || git;
  return `${shownName(shown[0] ?? git)} and ${keys.size - 1} more`;
}

function whatItIs({ root, path, change, after }: StageEffect): readonly unknown[] {
  return [root, path, change, after ?? null];
}
