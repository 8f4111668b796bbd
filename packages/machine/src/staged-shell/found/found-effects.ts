import type { Effect, FileWrite } from "@gennai/governance/effect";
import type { FileChange } from "@gennai/governance/tool";
import type { StageEffect } from "../../stage/observe/effect.ts";
import { foundDiff } from "./found-diff.ts";
import { type FoundEdit, foundEdits } from "./found-edits.ts";
import { foundForged, foundInContents, foundInGit, gitContents } from "./found-in-git.ts";
import { type FoundInTree, foundInTree } from "./found-in-tree.ts";
import { foundParts, type StagedParts } from "./found-parts.ts";
import { StagedWork, type StagedWorkOptions } from "./staged-work.ts";

/** What a command did, in the words in which policies judge. */
export interface FoundEffects extends StagedParts {
  /** Empty when it changed nothing that matters. */
  readonly effects: readonly Effect[];
  /** Of regular files that git does not ignore, in these effects of the stage. */
  changes(kept: readonly StageEffect[]): readonly FileChange[];
  /** All that these effects of the stage do to the tree, as edits; undefined where it has to be kept to take them back. */
  edits(kept: readonly StageEffect[]): readonly FoundEdit[] | undefined;
  /** What changes in files, for a person who is asked: a unified diff, shortened. Made when it is called; nothing is kept or dropped before. */
  diff(): string;
}

/** Says what a staged command did. Rejects where that cannot be told. */
export async function foundEffects(options: StagedWorkOptions): Promise<FoundEffects> {
  const work = new StagedWork(options);
  const inTree = undoableOf(work, await foundInTree(work));
  const judged = new Set(inTree.map(({ write }) => write.path.absolute));
  const forged = await foundForged(work);
  // Git would be shown what is not so.
  const contents = forged.length > 0 ? [] : await gitContents(work, options.home);
  const inGit = [...forged, ...foundInContents(work, contents, judged), ...foundInGit(work)];
  return {
    ...foundParts(work, { inTree, inGit, contents }),
    effects: [...inTree.map(({ write }) => write), ...inGit],
    changes: (kept) => among(inTree, kept).flatMap(({ effect, write }) => changeOf(effect, write)),
    edits: (kept) => foundEdits(work, among(inTree, kept)),
    diff: () => foundDiff(work, inTree),
  };
}

/** Marks each write as undoable like an edit, if that is true for all of them. */
function undoableOf(work: StagedWork, inTree: readonly FoundInTree[]): readonly FoundInTree[] {
  if (foundEdits(work, inTree) === undefined) return inTree;
  return inTree.map((one) => {
    const { found } = one.write;
    return found === undefined ? one : { ...one, write: { ...one.write, found: { ...found, undoable: true } } };
  });
}

function among(inTree: readonly FoundInTree[], kept: readonly StageEffect[]): readonly FoundInTree[] {
  const all = new Set(kept);
  return inTree.filter(({ effect }) => all.has(effect));
}

function changeOf({ before, after }: StageEffect, { path, operation, found }: FileWrite): readonly FileChange[] {
  if (!path.inside || found?.ignored === true) return [];
  const [beforeSha256, afterSha256] = [before, after].map((entry) =>
    entry?.type === "file" ? entry.sha256 : undefined,
  );
  if (beforeSha256 === undefined && afterSha256 === undefined) return [];
  return [{ path: path.relative, operation, beforeSha256, afterSha256, blocks: [] }];
}
