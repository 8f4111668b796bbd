import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import pLimit from "p-limit";
import { EditorError } from "../editor/editor-error.ts";
import type { EditorFiles } from "../editor/files/editor-files.ts";
import { type ApplyOptions, applyChangeSet, overlapsOf } from "./apply-change-set.ts";
import type { FinalChange } from "./final-change.ts";
import type { AskForRest, Overlap } from "./overlap.ts";

/** Applies change sets of one workspace, one after the other. */
export class ChangeSets {
  readonly #files: EditorFiles;
  readonly #workspace: string;
  readonly #inOrder = pLimit(1);

  /** @param options.workspace the session's folder, absolute */
  constructor(options: { readonly files: EditorFiles; readonly workspace: string }) {
    this.#files = options.files;
    this.#workspace = options.workspace;
  }

  /** Throws `EditorError` as `applyChangeSet` does. */
  apply(changes: readonly FinalChange[], options: ApplyOptions): Promise<readonly AppliedFile[]> {
    return this.#inOrder(() => applyChangeSet(this.#files, this.#workspace, changes, options));
  }

  /**
   * Those of the changes that can be applied, after the person agreed that the others, of which they changed the same lines, are left to
   * them. Throws `EditorError`: without that agreement nothing may be applied.
   */
  async withoutOverlaps(
    changes: readonly FinalChange[],
    ask: AskForRest,
  ): Promise<{ readonly changes: readonly FinalChange[]; readonly overlaps: readonly Overlap[] }> {
    const overlaps = await overlapsOf(this.#files, this.#workspace, changes);
    const left = new Set(overlaps.map(({ path }) => path));
    const rest = changes.filter(({ path }) => !left.has(path));
    if (overlaps.length === 0 || (await ask(overlaps, rest.length))) return { changes: rest, overlaps };
    throw new EditorError(
      "stale_file",
      `Nothing was applied: you changed the same lines of ${[...left].join(", ")} since.`,
      "Apply again to merge them by hand.",
    );
  }
}
