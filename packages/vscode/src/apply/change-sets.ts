import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import pLimit from "p-limit";
import { EditorError } from "../editor/editor-error.ts";
import type { EditorFiles } from "../editor/files/editor-files.ts";
import { type ApplyOptions, applyChangeSet } from "./apply-change-set.ts";
import type { FinalChange } from "./final-change.ts";

/** How many change sets can be taken back; the oldest are forgotten. */
const kept = 50;

/** Applies change sets one after the other, and remembers how to take them back until the window is closed. */
export class ChangeSets {
  readonly #files: EditorFiles;
  readonly #workspace: string;
  readonly #inverses = new Map<string, readonly FinalChange[]>();
  readonly #inOrder = pLimit(1);

  constructor(options: { readonly files: EditorFiles; readonly workspace: string }) {
    this.#files = options.files;
    this.#workspace = options.workspace;
  }

  /** Throws `EditorError` as `applyChangeSet` does. */
  apply(
    changeSetId: string,
    changes: readonly FinalChange[],
    options: Pick<ApplyOptions, "save" | "signal">,
  ): Promise<readonly AppliedFile[]> {
    return this.#inOrder(async () => {
      const applied = await applyChangeSet(this.#files, this.#workspace, changes, { ...options, label: "Gennai" });
      this.#inverses.set(changeSetId, applied.inverse);
      const [oldest] = this.#inverses.keys();
      if (this.#inverses.size > kept && oldest !== undefined) this.#inverses.delete(oldest);
      return applied.files;
    });
  }

  /** True if this window applied the change set and can take it back. */
  has(changeSetId: string): boolean {
    return this.#inverses.has(changeSetId);
  }

  /**
   * Writes what was there before a change set, and leaves what was changed since on other lines; one undoable step. Throws
   * `EditorError` that names each file in which the same lines have changed.
   */
  revert(changeSetId: string, options: Pick<ApplyOptions, "signal">): Promise<readonly AppliedFile[]> {
    return this.#inOrder(async () => {
      const inverse = this.#inverses.get(changeSetId);
      if (inverse === undefined) {
        throw new EditorError(
          "not_reverted",
          "This window did not apply that change set.",
          "Undo it on the server, or with git.",
        );
      }
      try {
        const { files } = await applyChangeSet(this.#files, this.#workspace, inverse, {
          ...options,
          save: "clean",
          label: "Gennai: Revert",
        });
        this.#inverses.delete(changeSetId);
        return files;
      } catch (error) {
        if (!(error instanceof EditorError) || error.code === "not_restored") throw error;
        throw new EditorError("not_reverted", `Not reverted: ${error.message}`, "", { cause: error });
      }
    });
  }
}
