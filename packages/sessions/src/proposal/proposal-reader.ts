import { ToolFailure } from "@gennai/governance/tool-error";
import { isSameConflict, type StagedConflict } from "@gennai/shell/proposal/staged-file";
import type { StagedTree } from "@gennai/shell/proposal/staged-tree";
import { shownConflict } from "./shown-conflict.ts";

/**
 * One conversation that works on a staged tree: which conflicts it was shown. Writing over an unknown conflict would revert
 * what the user saved.
 */
export class ProposalReader {
  readonly #tree: StagedTree;
  readonly #shown = new Map<string, { readonly conflict: StagedConflict; readonly answer: number }>();
  #answer = 0;

  constructor(tree: StagedTree) {
    this.#tree = tree;
  }

  /** The model answers again: it has read all earlier results. */
  beginAnswer(): void {
    this.#answer += 1;
  }

  /** Conflicts in files that a call has read, as text after its result. From the next answer on they may be resolved. */
  show(paths: readonly string[]): readonly string[] {
    return paths.flatMap((path) => {
      const file = this.#tree.files.get(path);
      if (file === undefined || file.conflict === null) return [];
      const before = this.#shown.get(path);
      if (!isSameConflict(before?.conflict ?? null, file.conflict)) {
        this.#shown.set(path, { conflict: file.conflict, answer: this.#answer });
      }
      return [shownConflict(this.#tree, file)];
    });
  }

  /**
   * Conflicts that a write to these files resolves. Throws `ToolFailure` `stale_file` for one that this conversation was not
   * shown.
   */
  settledBy(paths: readonly string[]): ReadonlyMap<string, StagedConflict> {
    const settled = new Map<string, StagedConflict>();
    for (const path of paths) {
      const conflict = this.#tree.files.get(path)?.conflict ?? null;
      // No write can resolve it, so it stays a conflict.
      if (conflict === null || conflict === "unreadable") continue;
      const shown = this.#shown.get(path);
      if (shown === undefined || shown.answer === this.#answer || !isSameConflict(shown.conflict, conflict)) {
        throw notShown(path);
      }
      settled.set(path, conflict);
    }
    return settled;
  }
}

function notShown(path: string): ToolFailure {
  return new ToolFailure(
    "stale_file",
    `Stale File: the user has saved ${path} since, and changed the same lines as you. Nothing was written.`,
    { hint: "Read the file: the result shows both versions. Then write it so that it holds both.", retryable: true },
  );
}
