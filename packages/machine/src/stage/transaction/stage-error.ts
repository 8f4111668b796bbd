import { shownName, shownNames } from "@gennai/governance/shown-names";

/** Why a workspace cannot be staged on this machine. */
export type StageObstacle =
  | "not_linux"
  | "program_missing"
  | "no_user_namespaces"
  | "no_overlay"
  | "overlay_refused"
  | "no_whiteouts"
  | "foreign_owner"
  | "shared_group"
  | "mount_inside"
  | "no_place"
  | "too_large"
  | "copy_refused";

/** The workspace cannot be staged here. `advice` is the one thing to do about it. */
export class StageUnavailable extends Error {
  override readonly name = "StageUnavailable";
  readonly obstacle: StageObstacle;
  readonly advice: string;

  constructor(obstacle: StageObstacle, message: string, advice: string, cause?: unknown) {
    super(message, { cause });
    this.obstacle = obstacle;
    this.advice = advice;
  }
}

/** What prevents keeping a command's changes. */
export interface StageConflict {
  /** Real path of the root it is below. */
  readonly root: string;
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly reason: string;
}

/**
 * A command's changes were not kept, and the tree is as before.
 *
 * - `stale_file`: others changed what it would have changed.
 * - `not_committable`: an effect that can never be kept is among those to keep.
 * - `git_locked`: another git is working in the repository.
 */
export class NotCommitted extends Error {
  override readonly name = "NotCommitted";
  readonly code: "stale_file" | "not_committable" | "git_locked";
  readonly conflicts: readonly StageConflict[];

  constructor(code: NotCommitted["code"], conflicts: readonly StageConflict[]) {
    const [first] = conflicts;
    const others = conflicts.length > 1 ? `, and ${conflicts.length - 1} more` : "";
    super(`Nothing was kept: ${first === undefined ? "" : `${shownName(first.path)}: ${first.reason}`}${others}.`);
    this.code = code;
    this.conflicts = conflicts;
  }
}

/** What a command left cannot be looked at as a whole, so none of it can be kept. */
export class NotObservable extends Error {
  override readonly name = "NotObservable";
}

/** An entry taken from its place could not be put back, because its directory is gone. The entry is kept. */
export class Unsettled extends Error {
  override readonly name = "Unsettled";
  /** Absolute paths of the taken entries. */
  readonly kept: readonly string[];

  constructor(kept: readonly string[]) {
    super(`What stood in a directory that somebody else moved meanwhile is kept in ${shownNames(kept)}.`);
    this.kept = kept;
  }
}
