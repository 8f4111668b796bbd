import { shownName, shownNames } from "@gennai/governance/shown-names";

/** What prevents keeping a command's changes. */
export interface StageConflict {
  /** Real path of the root it is below. */
  readonly root: string;
  /** Relative to the root, with `/`. */
  readonly path: string;
  readonly reason: string;
}

/**
 * Changes were not kept, and the tree is as before. `cause` is the system's error, if one was in the way.
 *
 * - `stale_file`: others changed what it would have changed.
 * - `not_committable`: an effect that can never be kept is among those to keep.
 * - `git_locked`: another git is working in the repository.
 */
export class NotCommitted extends Error {
  override readonly name = "NotCommitted";
  readonly code: "stale_file" | "not_committable" | "git_locked";
  readonly conflicts: readonly StageConflict[];

  constructor(code: NotCommitted["code"], conflicts: readonly StageConflict[], cause?: unknown) {
    const [first] = conflicts;
    const others = conflicts.length > 1 ? `, and ${conflicts.length - 1} more` : "";
    super(`Nothing was kept: ${first === undefined ? "" : `${shownName(first.path)}: ${first.reason}`}${others}.`, {
      cause,
    });
    this.code = code;
    this.conflicts = conflicts;
  }
}

/** An entry taken from its place could not be put back, because its directory is gone. The entry is kept. */
export class Unsettled extends Error {
  override readonly name = "Unsettled";
  /** Absolute paths of the taken entries. */
  readonly kept: readonly string[];

  constructor(kept: readonly string[]) {
    super(`The files of a directory that somebody else moved meanwhile are kept in ${shownNames(kept)}.`);
    this.kept = kept;
  }
}
