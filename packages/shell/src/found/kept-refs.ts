import { join } from "node:path";
import type { RefMove } from "@gennai/governance/tool";
import type { IndexEntry } from "@gennai/machine/git-data/git-index";
import { repositoryPaths } from "@gennai/machine/host/repository-paths";
import type { Observation, StageEffect } from "@gennai/stage/observe/effect";
import { type IndexChange, observeGit } from "@gennai/stage/observe/git-effects";
import type { Transaction } from "@gennai/stage/transaction/transaction";

const stashes = "refs/stash";
/** Maximum entries of the index that are named one by one. What a commit holds goes back with HEAD. */
const maxEntries = 20_000;

/**
 * The refs of the workspace's repository, its HEAD and its index's entries that these effects move; each stash that was added or
 * taken away counts as one. Call it before they are kept.
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
    if (effect.type === "ref" && effect.name === stashes) return [];
    if (effect.type !== "ref" && effect.type !== "head" && effect.type !== "index") return [];
    const git = join(transaction.roots[effect.root]?.path ?? "/", effect.repository);
    const worktree = effect.type === "ref" ? undefined : effect.worktree;
    const place = worktree === undefined ? git : join(git, "worktrees", worktree);
    if (place !== (effect.type === "ref" ? writable[0] : writable.at(-1))) return [];
    if (effect.type === "index") return entryMoves(effect.changes);
    return [{ name: effect.type === "head" ? "HEAD" : effect.name, from: effect.from, to: effect.to }];
  });
}

/** Without those of a conflict, or only meant to be added, or whose names are not text: nothing puts them back as they were. */
function entryMoves(changes: readonly IndexChange[]): readonly RefMove[] {
  const isSimple = ({ path, from }: IndexChange): boolean => !path.includes("\0") && from?.intentToAdd !== true;
  const simple = changes.filter(isSimple);
  if (simple.length > maxEntries) return [];
  const value = (entry: IndexEntry | undefined) => (entry === undefined ? undefined : `${entry.mode} ${entry.object}`);
  return simple.map(({ path, from, to }) => ({ name: `:${path}`, from: value(from), to: value(to) }));
}
