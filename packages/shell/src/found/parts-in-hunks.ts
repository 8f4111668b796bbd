import { lstatSync } from "node:fs";
import { unifiedDiff } from "@gennai/machine/changes/unified-diff";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import { applyReview } from "@gennai/protocol/apply-review";
import { textWithoutNul } from "@gennai/protocol/diff/utf8-text";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { HunkDecisions } from "@gennai/protocol/whole-moves";
import type { StageEffect } from "@gennai/stage/observe/effect";
import type { Transaction } from "@gennai/stage/transaction/transaction";
import { foundDiff } from "./found-diff.ts";
import type { FoundInTree } from "./found-in-tree.ts";
import type { StagedParts } from "./found-parts.ts";
import { type FoundBefore, most, withBytes } from "./onto-present.ts";
import type { StagedWork } from "./staged-work.ts";

/** Decisions about the hunks of parts of which not all is kept, by the part's id. */
export type KeptInPart = ReadonlyMap<string, HunkDecisions>;

/** A file's text before and after a command; `before` is undefined where there was none. */
interface Texts {
  readonly effect: StageEffect;
  readonly before: string | undefined;
  readonly after: string;
}

/**
 * The parts of a staged command's work as changes that a person reviews. A part that is one text file has hunks, unless git
 * ignores it, only its mode changes, or it is too large; any other part is kept or dropped as a whole.
 */
export class PartsInHunks {
  readonly #work: StagedWork;
  readonly #parts: StagedParts;
  readonly #inTree: ReadonlyMap<StageEffect, FoundInTree>;
  readonly #before: FoundBefore;
  readonly #texts = new Map<string, Texts>();
  #changes: readonly ProposedChange[] | undefined;

  /** @param before bytes as they were found */
  constructor(work: StagedWork, parts: StagedParts, inTree: readonly FoundInTree[], before: FoundBefore) {
    this.#work = work;
    this.#parts = parts;
    this.#inTree = new Map(inTree.map((one) => [one.effect, one]));
    this.#before = before;
  }

  /** Call it before anything is kept. The id of a change is that of its part. */
  changes(): readonly ProposedChange[] {
    if (this.#changes !== undefined) return this.#changes;
    const settings = new Set(this.#work.gitSettings);
    let room = most.all;
    this.#changes = this.#parts.parts.map(({ id, name }) => {
      const effects = this.#parts.effectsOf(id);
      const [first] = effects;
      const operation = effects.length !== 1 ? "update" : operations[first?.change ?? "changed"];
      const whole = {
        id,
        path: name,
        operation,
        newContent: "",
        baseSha256: "",
        conflict: false,
        warning: "",
      } as const;
      const texts = effects.length === 1 && first !== undefined ? this.#textsOf(first, room) : undefined;
      if (texts === undefined) {
        const found = effects.flatMap((effect) => this.#inTree.get(effect) ?? []);
        const ofGit = effects.filter((effect) => settings.has(effect));
        return { ...whole, unifiedDiff: foundDiff(this.#work, found, ofGit), hunks: [] };
      }
      room -= texts.after.length;
      this.#texts.set(id, texts);
      const diff = unifiedDiff({ path: name, operation, oldText: texts.before ?? "", newText: texts.after });
      return { ...whole, unifiedDiff: diff.text, hunks: diff.hunks };
    });
    return this.#changes;
  }

  /**
   * Leaves only what is kept of these parts on the stage.
   *
   * @returns by effect, the one to commit in its place; null where nothing of it is kept. Throws `ReviewError` for hunks that do
   *   not fit.
   */
  keepOnly(transaction: Transaction, kept: KeptInPart): ReadonlyMap<StageEffect, StageEffect | null> {
    const onStage = new Map<StageEffect, StageEffect | null>();
    for (const change of this.changes()) {
      const [decisions, texts] = [kept.get(change.id), this.#texts.get(change.id)];
      if (decisions === undefined || texts === undefined) continue;
      const { effect, before, after } = texts;
      const result = applyReview(before, after, change, decisions);
      const bytes = result.type === "write" ? new TextEncoder().encode(result.text) : undefined;
      onStage.set(effect, bytes === undefined ? null : withBytes(transaction, effect, bytes));
    }
    return onStage;
  }

  #textsOf(effect: StageEffect, room: number): Texts | undefined {
    const { after, flags, change } = effect;
    const { write } = this.#inTree.get(effect) ?? {};
    if (after?.type !== "file" || write === undefined || write.found?.ignored === true || flags.length > 0)
      return undefined;
    const found = this.#before.get(effect);
    if ((change === "changed" && found === undefined) || after.size > Math.min(most.size, room)) return undefined;
    if (lstatSync(this.#work.placeOf(effect)).nlink > 1) return undefined;
    const staged = this.#work.staged(effect);
    if (staged === undefined || sha256(staged) !== after.sha256) return undefined;
    const [old, fresh] = [found && textWithoutNul(found), textWithoutNul(staged)];
    if (fresh === undefined || (found !== undefined && old === undefined)) return undefined;
    return { effect, before: old, after: fresh };
  }
}

const operations = { created: "create", changed: "update", deleted: "delete" } as const;
