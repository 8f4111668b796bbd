import type { RefMove } from "@gennai/governance/tool";

type Moves = Iterable<{ readonly refs: readonly RefMove[] }>;

/** Whether commands of a session made a branch, moved it, or moved HEAD from or to it, and that was kept. */
export function isOwnBranch(changeSets: Moves, name: string): boolean {
  const ref = `refs/heads/${name}`;
  return hasMove(changeSets, (move) => move.name === ref || [move.from, move.to].includes(`ref: ${ref}`));
}

/** Whether commands of a session made a branch, and left it at a commit. @param id of the commit */
export function isOwnTip(changeSets: Moves, name: string, id: string): boolean {
  const moves = [...changeSets].flatMap(({ refs }) => refs.filter((move) => move.name === `refs/heads/${name}`));
  return moves.some(({ from }) => from === undefined) && moves.at(-1)?.to === id;
}

/** Whether commands of a session stashed a commit, and that was kept. @param id of the commit */
export function isOwnStash(changeSets: Moves, id: string): boolean {
  return hasMove(changeSets, ({ name, to }) => name === "refs/stash" && to === id);
}

function hasMove(changeSets: Moves, isThat: (move: RefMove) => boolean): boolean {
  for (const { refs } of changeSets) if (refs.some(isThat)) return true;
  return false;
}
