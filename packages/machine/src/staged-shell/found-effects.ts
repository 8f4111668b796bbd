import type { Effect, FileWrite } from "@gennai/governance/effect";
import type { FileChange } from "@gennai/governance/tool";
import { digestOf } from "@gennai/protocol/digest";
import type { StageEffect } from "../stage/effect.ts";
import { foundDiff } from "./found-diff.ts";
import { foundInGit, foundInObjects } from "./found-in-git.ts";
import { foundInTree } from "./found-in-tree.ts";
import { StagedWork, type StagedWorkOptions } from "./staged-work.ts";

/** What a command did, in the words in which policies judge. */
export interface FoundEffects {
  /** Empty when it changed nothing that matters. */
  readonly effects: readonly Effect[];
  /** Of regular files that git does not ignore. */
  readonly changes: readonly FileChange[];
  /** SHA-256 over all that is to be kept. */
  readonly digest: string;
  /** What changes in files, for a person who is asked: a unified diff, shortened. Made when it is called; nothing is kept or dropped before. */
  diff(): string;
}

/** Says what a staged command did. Rejects where that cannot be told. */
export async function foundEffects(options: StagedWorkOptions): Promise<FoundEffects> {
  const work = new StagedWork(options);
  const inTree = await foundInTree(work);
  const judged = new Set(inTree.map(({ write }) => write.path.absolute));
  const inObjects = await foundInObjects(work, { judged, home: options.home });
  return {
    effects: [...inTree.map(({ write }) => write), ...inObjects, ...foundInGit(work)],
    changes: inTree.flatMap(({ effect, write }) => changeOf(effect, write)),
    diff: () => foundDiff(work, inTree),
    digest: digestOf(work.effects.map(({ root, path, change, after }) => [root, path, change, after ?? null])),
  };
}

function changeOf({ before, after }: StageEffect, { path, operation, found }: FileWrite): readonly FileChange[] {
  if (!path.inside || found?.ignored === true) return [];
  const [beforeSha256, afterSha256] = [before, after].map((entry) =>
    entry?.type === "file" ? entry.sha256 : undefined,
  );
  if (beforeSha256 === undefined && afterSha256 === undefined) return [];
  return [{ path: path.relative, operation, beforeSha256, afterSha256, blocks: [] }];
}
