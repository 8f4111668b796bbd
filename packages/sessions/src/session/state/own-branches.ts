import type { RefMove } from "@gennai/governance/tool";

/** Whether commands of a session made a branch, moved it, or moved HEAD from or to it, and that was kept. */
export function isOwnBranch(changeSets: Iterable<{ readonly refs: readonly RefMove[] }>, name: string): boolean {
  const ref = `refs/heads/${name}`;
  for (const { refs } of changeSets) {
    if (refs.some((move) => move.name === ref || [move.from, move.to].includes(`ref: ${ref}`))) return true;
  }
  return false;
}
