import { StageUnavailable } from "../transaction/stage-error.ts";

/** Most entries and bytes, over all roots, that are copied for one command. More would take too long before each command. */
export const copyLimits = { entries: 40_000, bytes: 512 * 1024 * 1024 } as const;

/** What is left of the limits; each copy counts it down. */
export interface CopyBudget {
  entries: number;
  bytes: number;
}

/** Throws `StageUnavailable` (`too_large`). */
export function spend(budget: CopyBudget, root: string, bytes: number): void {
  budget.entries -= 1;
  budget.bytes -= bytes;
  if (budget.entries >= 0 && budget.bytes >= 0) return;
  throw new StageUnavailable(
    "too_large",
    `${root} is too large to be copied for each command: more than ${copyLimits.entries} entries or ${copyLimits.bytes / 1024 / 1024} MiB with git's data.`,
    "Put the workspace and GENNAI_STATE_DIR on ext4, xfs or btrfs, where nothing is copied, or open a smaller one.",
  );
}
