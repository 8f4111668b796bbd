import { withoutKeyLines } from "@gennai/machine/redaction/private-key";
import { threeWayDiff } from "@gennai/protocol/diff/three-way-diff";
import type { StagedFile } from "@gennai/shell/proposal/staged-file";
import type { StagedTree } from "@gennai/shell/proposal/staged-tree";
import { textAt } from "./staged-proposal.ts";

const maxLines = 160;
const maxLineLength = 400;

/** A conflict as shown to the model: a note, and both sides' changes, with a mark at each line that no note has. */
export function shownConflict(tree: StagedTree, file: StagedFile): string {
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
