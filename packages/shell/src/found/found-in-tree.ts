import { lstatSync } from "node:fs";
import { join, relative } from "node:path";
import type { FileWrite, FoundTrait, WorkspacePath } from "@gennai/governance/effect";
import { type ControlPath, controlPath } from "@gennai/governance/policies/files/control-paths";
import { isMadeByTools } from "@gennai/governance/policies/files/made-by-tools";
import { directoriesAbove } from "@gennai/protocol/directories-above";
import type { EffectFlag, StageEffect } from "@gennai/stage/observe/effect";
import { isAgreed } from "./agreed-change.ts";
import { losingContent } from "./loses-content.ts";
import type { StagedWork } from "./staged-work.ts";

/** Bytes of a file that policies examine; larger files are judged by their names. */
const maxContent = 256 * 1024;
/** Bytes of all examined files of one command. */
const maxContents = 16 * 1024 * 1024;

/** One path outside of git's data: the stage's effect on it, and the effect that policies judge. */
export interface FoundInTree {
  readonly effect: StageEffect;
  readonly write: FileWrite;
  /** For an ignored path: the outermost ignored directory around it, absolute; undefined if there is none. */
  readonly ignoredTree?: string | undefined;
}

/** What a staged command did to files outside of git's data; a directory counts as its content. */
export async function foundInTree(work: StagedWork): Promise<readonly FoundInTree[]> {
  const effects = work.effects.filter((effect) => !work.isInGit(effect) && isJudged(effect));
  const ignored = await ignoredIn(work, effects);
  const losing = losingContent(effects);
  let room = maxContents;
  return effects.map((effect) => {
    const absolute = work.absolute(effect);
    const path = work.workspacePath(absolute);
    const { before, after, change } = effect;
    const size = after?.type === "file" ? after.size : 0;
    const content = size > Math.min(maxContent, room) ? undefined : work.staged(effect)?.toString("utf8");
    room -= content === undefined ? 0 : size;
    const isTracked = work.isTracked(absolute);
    const isIgnored = ignored.files.has(absolute);
    // Rules say so of what git ignores.
    const isUnshown = work.unshown.has(effect) && !isIgnored && (isTracked || !isMadeByTools(path.relative));
    const write: FileWrite = {
      type: "write",
      operation: change === "created" ? "create" : change === "deleted" ? "delete" : "update",
      path,
      base: undefined,
      current: before?.type === "file" ? before.sha256 : undefined,
      ...(content === undefined ? {} : { content }),
      found: {
        agreed: isAgreedTo(work, effect, path),
        tracked: isTracked,
        ignored: isIgnored,
        lost: losing.has(effect),
        traits: [
          ...traitsOf(effect.flags),
          ...(work.merged.has(effect) ? (["merged"] as const) : []),
          ...(isUnshown ? (["not-shown"] as const) : []),
          ...(change === "created" ? [] : databaseTraits(absolute)),
          ...targetTraits(work, absolute),
        ],
      },
    };
    return { effect, write, ignoredTree: ignored.treeOf(absolute) };
  });
}

function isJudged({ before, after }: StageEffect): boolean {
  return (after ?? before)?.type !== "directory" || (before !== undefined && before.type !== "directory");
}

interface Ignored {
  /** Absolute paths. */
  readonly files: ReadonlySet<string>;
  treeOf(absolute: string): string | undefined;
}

/** The changed paths that git ignores and does not track. */
async function ignoredIn(work: StagedWork, effects: readonly StageEffect[]): Promise<Ignored> {
  const { repository, top } = work;
  if (repository === undefined) return { files: new Set(), treeOf: () => undefined };
  const untracked = effects.map((effect) => work.absolute(effect)).filter((path) => !work.isTracked(path));
  const names = untracked.map((path) => relative(top, path)).filter((name) => !name.startsWith("../"));
  const ignored = await work.ignored.among(names);
  const files = new Set([...ignored].map((name) => join(top, name)));
  const ways = new Set([...ignored].flatMap(waysTo));
  const trees = await work.ignored.among([...ways]);
  return {
    files,
    treeOf: (absolute) => {
      if (!files.has(absolute)) return undefined;
      const tree = waysTo(relative(top, absolute)).find((way) => trees.has(way));
      return tree === undefined ? undefined : join(top, tree.slice(0, -1));
    },
  };
}

/** The directories above a path, outermost first, in the form in which git's rules expect them: `a/`, `a/b/`. */
function waysTo(path: string): readonly string[] {
  return directoriesAbove(path).map((directory) => `${directory}/`);
}

/** Rules may ask about any new file, also one whose name says nothing. */
const newFile: ControlPath = { level: "sensitive", what: "a new file" };

function isAgreedTo(work: StagedWork, effect: StageEffect, path: WorkspacePath): boolean {
  const control = controlPath(path.relative) ?? (effect.change === "created" ? newFile : undefined);
  if (control === undefined) return work.agreed.installs && /(?:^|\/)node_modules\//.test(path.relative);
  const { before, after } = effect;
  const change = { path: path.absolute, name: path.relative, control, before, after };
  return isAgreed(change, work.agreed, {
    root: work.workspaceRoot,
    isTracked: work.isTracked(path.absolute),
    text: (side) => (side === "after" ? work.staged(effect) : work.before(effect))?.toString("utf8"),
  });
}

/** A file with a journal beside it is an open database. */
function databaseTraits(path: string): readonly FoundTrait[] {
  const isOpen = ["-wal", "-shm", "-journal"].some(
    (suffix) => lstatSync(path + suffix, { throwIfNoEntry: false })?.isFile() === true,
  );
  return isOpen ? ["open-database"] : [];
}

/** The target of a link named like a control file has a name that does not show this. */
function targetTraits(work: StagedWork, absolute: string): readonly FoundTrait[] {
  return work.isControlTarget(absolute) ? ["control-target"] : [];
}

function traitsOf(flags: readonly EffectFlag[]): readonly FoundTrait[] {
  return flags.filter(
    (flag) => flag === "odd-name" || flag === "case-clash" || flag === "set-id" || flag === "leads-outside",
  );
}
