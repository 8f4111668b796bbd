import type { Effect, FileWrite, FoundWrite } from "@gennai/governance/effect";
import type { FileChange } from "@gennai/governance/tool";
import type { StageEffect } from "@gennai/stage/observe/effect";
import { foundDiff } from "./found-diff.ts";
import { type FoundEdits, foundEdits } from "./found-edits.ts";
import { foundForged, foundInContents, foundInGit, foundThrown, gitContents } from "./found-in-git.ts";
import { type FoundInTree, foundInTree } from "./found-in-tree.ts";
import { foundParts, type StagedParts } from "./found-parts.ts";
import type { FoundBefore } from "./onto-present.ts";
import { PartsInHunks } from "./parts-in-hunks.ts";
import { StagedWork, type StagedWorkOptions } from "./staged-work.ts";
import { thrownAway, thrownFromIndex, type UsersContents } from "./thrown-away.ts";

/** What a command did, as effects that policies judge. */
export interface FoundEffects extends StagedParts {
  /** Empty if it changed nothing that matters. */
  readonly effects: readonly Effect[];
  /** The changes of regular files that git does not ignore, among these effects of the stage. */
  changes(kept: readonly StageEffect[]): readonly FileChange[];
  /** All that these effects do to files and directories of the workspace. */
  edits(kept: readonly StageEffect[]): FoundEdits;
  /** The changes in files as a shortened unified diff, for a person who is asked. Call it before anything is kept or dropped. */
  diff(): string;
  /** The parts, for a person who reviews them by the hunk. @param before bytes as they were found */
  inHunks(before: FoundBefore): PartsInHunks;
}

/** The effects of a staged command. Rejects if they cannot be determined. */
export async function foundEffects({
  usersContents,
  ...options
}: StagedWorkOptions & {
  /** Left out where nothing of the user's can be thrown away unseen. */
  readonly usersContents?: UsersContents | undefined;
}): Promise<FoundEffects> {
  const work = new StagedWork(options);
  const found = await foundInTree(work);
  const judged = new Set(found.map(({ write }) => write.path.absolute));
  const forged = await foundForged(work);
  // With forged objects, git would report false contents.
  const contents = forged.length > 0 ? [] : await gitContents(work, options.home);
  const thrown = usersContents && (await thrownAway(work, found, contents, usersContents));
  const inTree = found.map((one) => (thrown?.has(one) === true ? marked(one, { thrownAway: true }) : one));
  const gone = new Set([...(thrown ?? [])].map(({ write }) => write.path.absolute));
  const fromIndex = usersContents === undefined ? [] : await thrownFromIndex(work, contents, usersContents);
  const inGit = [
    ...forged,
    ...foundInContents(work, contents, judged),
    ...foundThrown(
      work,
      fromIndex.filter((path) => !gone.has(path)),
    ),
    ...foundInGit(work),
  ];
  const parts = foundParts(work, { inTree, inGit, contents });
  return {
    ...parts,
    effects: [...inTree.map(({ write }) => write), ...inGit],
    changes: (kept) => among(inTree, kept).flatMap(({ effect, write }) => changeOf(effect, write)),
    edits: (kept) => foundEdits(work, among(inTree, kept), kept),
    diff: () => foundDiff(work, inTree),
    inHunks: (before) => new PartsInHunks(work, parts, inTree, before),
  };
}

function marked(one: FoundInTree, mark: Partial<FoundWrite>): FoundInTree {
  const { found } = one.write;
  return found === undefined ? one : { ...one, write: { ...one.write, found: { ...found, ...mark } } };
}

/** Those of the kept effects, which may have other contents by now. */
function among(inTree: readonly FoundInTree[], kept: readonly StageEffect[]): readonly FoundInTree[] {
  const all = new Map(kept.map((effect) => [keyOf(effect), effect]));
  return inTree.flatMap((one) => {
    const effect = all.get(keyOf(one.effect));
    return effect === undefined ? [] : [{ ...one, effect }];
  });
}

function keyOf({ root, path }: StageEffect): string {
  return `${root} ${path}`;
}

function changeOf({ before, after }: StageEffect, { path, operation, found }: FileWrite): readonly FileChange[] {
  if (!path.inside || found?.ignored === true) return [];
  const [beforeSha256, afterSha256] = [before, after].map((entry) =>
    entry?.type === "file" ? entry.sha256 : undefined,
  );
  if (beforeSha256 === undefined && afterSha256 === undefined) return [];
  return [{ path: path.relative, operation, beforeSha256, afterSha256, blocks: [] }];
}
