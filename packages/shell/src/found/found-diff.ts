import type { FileWrite } from "@gennai/governance/effect";
import { editableText } from "@gennai/machine/changes/editable-text";
import { unifiedDiff } from "@gennai/machine/changes/unified-diff";
import { notShown } from "@gennai/protocol/model/governance/question";
import type { StageEffect } from "@gennai/stage/observe/effect";
import type { FoundInTree } from "./found-in-tree.ts";
import type { StagedWork } from "./staged-work.ts";

/** Characters of all diffs shown to a person, and of the texts compared for them. */
const maxShown = 48 * 1024;
const maxCompared = 4 * 1024 * 1024;
/** Milliseconds a comparison may take; then its hunks are larger than they have to be. */
const timeoutMs = 50;

/**
 * What a staged command did to files, for a person to read before it is kept: a unified diff, shortened, with a count of the
 * rest. Files that git ignores, and files that are not text, are only named.
 *
 * @param settings files of git's data among it that a person judges by their text
 */
export function foundDiff(
  work: StagedWork,
  found: readonly FoundInTree[],
  settings: readonly StageEffect[] = work.gitSettings,
): string {
  const parts: string[] = [];
  let room = maxShown;
  let comparable = maxCompared;
  let left = 0;
  const ignored = new Map<string, number>();
  for (const effect of settings) {
    const text = gitDiff(work, effect);
    room -= text.length;
    parts.push(text);
    if (isTooLarge(effect)) left += 1;
  }
  for (const { effect, write, ignoredTree } of found) {
    const others = ignoredTree === undefined ? undefined : ignored.get(ignoredTree);
    if (ignoredTree !== undefined) ignored.set(ignoredTree, (others ?? -1) + 1);
    // Nobody reads a line for each file of `node_modules`.
    if (others !== undefined) continue;
    const size = sizeOf(effect.before) + sizeOf(effect.after);
    const text = room <= 0 || size > comparable ? undefined : diffOf(work, effect, write);
    if (text === undefined || text.length > room) {
      left += 1;
      continue;
    }
    comparable -= size;
    room -= text.length;
    parts.push(text);
  }
  for (const [tree, files] of ignored) {
    if (files === 0) continue;
    const { inside, relative } = work.workspacePath(tree);
    parts.push(
      `and ${files} more ${files === 1 ? "file" : "files"} in ${inside ? relative : tree}/ (git ignores it)\n`,
    );
  }
  if (left > 0) parts.push(notShown(left));
  return parts.join("");
}

function diffOf(work: StagedWork, effect: StageEffect, { path, operation, found }: FileWrite): string {
  const name = path.inside ? path.relative : path.absolute;
  const named = (why: string): string => `${operation} ${name} (${why})\n`;
  if (found?.ignored === true) return named("git ignores it");
  const { before, after } = effect;
  if (before?.type === "link" || after?.type === "link") {
    return named(after?.type === "link" ? `a link to ${after.target}` : "it was a link");
  }
  const bytes = [before?.type === "file" ? work.before(effect) : undefined, work.staged(effect)];
  const [oldText, newText] = bytes.map((each) => (each === undefined ? "" : editableText(each)?.text));
  if (oldText === undefined || newText === undefined) return named("no text");
  if (oldText === newText && before !== undefined && after !== undefined) return named("its mode or its line ends");
  return unifiedDiff({ path: name, operation, oldText, newText }, { timeoutMs }).text;
}

/** The diff of a file in git's data. It is never shortened, because the file decides what git runs or shows. */
function gitDiff(work: StagedWork, effect: StageEffect): string {
  const { inside, relative, absolute } = work.workspacePath(work.absolute(effect));
  const path = inside ? relative : absolute;
  const operation = effect.change === "created" ? "create" : effect.change === "deleted" ? "delete" : "update";
  if (isTooLarge(effect)) return `${operation} ${path} (too large to be shown)\n`;
  const [oldText, newText] = [work.before(effect), work.staged(effect)].map((each) => each?.toString("utf8") ?? "");
  return unifiedDiff({ path, operation, oldText: oldText ?? "", newText: newText ?? "" }, { timeoutMs }).text;
}

function isTooLarge({ before, after }: StageEffect): boolean {
  return sizeOf(before) + sizeOf(after) > maxShown;
}

function sizeOf(entry: StageEffect["before"] | StageEffect["after"]): number {
  return entry?.type === "file" ? entry.size : 0;
}
