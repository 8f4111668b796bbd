import { join } from "node:path";
import type { RefMove } from "@gennai/governance/tool";
import { repositoryPaths } from "@gennai/machine/host/repository-paths";
import type { Observation, StageEffect } from "@gennai/stage/observe/effect";
import { observeGit } from "@gennai/stage/observe/git-effects";
import type { Transaction } from "@gennai/stage/transaction/transaction";

const stashes = "refs/stash";

/**
 * The refs of the workspace's repository, and its HEAD, that these effects move; each stash that was added or taken away counts
 * as one. Call it before they are kept.
 */
export function keptRefs(
  transaction: Transaction,
  { observation, kept }: { readonly observation: Observation; readonly kept: readonly StageEffect[] },
  { workspaceRoot, home }: { readonly workspaceRoot: string; readonly home: string | undefined },
): readonly RefMove[] {
  const { writable = [] } = repositoryPaths(workspaceRoot, home) ?? {};
  const { effects } = observeGit(transaction, { ...observation, effects: kept });
  return effects.flatMap((effect): readonly RefMove[] => {
    if (effect.type === "reflog" && effect.name === stashes) {
      const { added, removed } = effect.entries ?? { added: [], removed: [] };
      const isOwn = join(transaction.roots[effect.root]?.path ?? "/", effect.repository) === writable[0];
      const moves = [
        ...removed.map((from) => ({ from, to: undefined })),
        ...added.map((to) => ({ from: undefined, to })),
      ];
      return isOwn ? moves.map((move) => ({ name: stashes, ...move })) : [];
    }
    if ((effect.type !== "ref" && effect.type !== "head") || (effect.type === "ref" && effect.name === stashes))
      return [];
    const git = join(transaction.roots[effect.root]?.path ?? "/", effect.repository);
    const isHead = effect.type === "head";
    const place = isHead && effect.worktree !== undefined ? join(git, "worktrees", effect.worktree) : git;
    if (place !== (isHead ? writable.at(-1) : writable[0])) return [];
    return [{ name: isHead ? "HEAD" : effect.name, from: effect.from, to: effect.to }];
  });
}
