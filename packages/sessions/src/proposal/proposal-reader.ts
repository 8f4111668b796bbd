import { ToolFailure } from "@gennai/governance/tool-error";
import { withoutKeyLines } from "@gennai/machine/redaction/private-key";
import { threeWayDiff } from "@gennai/protocol/diff/three-way-diff";
import type { StagedFile } from "@gennai/shell/proposal/staged-file";
import { isSameConflict, type StagedConflict } from "@gennai/shell/proposal/staged-file";
import type { StagedTree } from "@gennai/shell/proposal/staged-tree";
import { textAt } from "./staged-proposal.ts";

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

const maxLines = 160;
const maxLineLength = 400;

/** A conflict as shown to the model: a note, and both sides' changes, with a mark at each line that no note has. */
function shownConflict(tree: StagedTree, file: StagedFile): string {
  const compared = difference(tree, file);
  if (compared === "")
    return `[conflict: ${JSON.stringify(file.path)} is not text in the workspace, or none in what you staged.]`;
  const lines = compared
    .trimEnd()
    .split(/\r?\n|[\r\u2028\u2029]/)
    .map((line) => `  | ${line.length > maxLineLength ? `${line.slice(0, maxLineLength).toWellFormed()}…` : line}`);
  const note =
    `[conflict in ${JSON.stringify(file.path)}: what you wanted is staged, what is there now is the user's. ` +
    "Write it so that it holds both; that is proposed on top of what the user has.]";
  return `${note}\n${lines.join("\n")}`;
}

/** Empty if it is not text. */
function difference(tree: StagedTree, { base, staged, conflict }: StagedFile): string {
  if (conflict === "unreadable") return "";
  const theirs = conflict === "no-file" ? null : conflict;
  const [from, mine, there] = [textAt(tree, base), textAt(tree, staged), textAt(tree, theirs)];
  if (from === undefined || mine === undefined || there === undefined) return "";
  // Masking recognises a private key by its beginning, but a hunk may show only its middle.
  return withoutKeyLines(threeWayDiff({ base: from, mine, theirs: there }, { maxLines }), [from, mine, there]);
}
