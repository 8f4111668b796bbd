import { diffLines } from "@gennai/protocol/diff/line-diff";
import { splitLines } from "@gennai/protocol/diff/line-edit";
import type { Hunk } from "@gennai/protocol/model/session/proposal";

/** One version of a text, and the command that made it; empty: a file tool did. */
export interface TextStep {
  readonly text: string;
  readonly command: string;
}

/** Milliseconds to compare two steps; after that, their changes are told apart only coarsely. */
const timeoutMs = 100;

/**
 * The commands that made each hunk: those that added one of its new lines, or removed one of its old ones.
 * @param steps from `base` to the proposal, oldest first
 * @returns for each hunk, in the order in which the commands ran
 */
export function hunkCommands(base: string, steps: readonly TextStep[], hunks: readonly Hunk[]): readonly string[][] {
  // For each line, the step that made it; none for the base's. For each gap before a line, the steps that removed lines there.
  let makers: (number | undefined)[] = splitLines(base).map(() => undefined);
  let removers: Set<number>[] = [...makers, undefined].map(() => new Set());
  let before = base;
  for (const [step, { text }] of steps.entries()) {
    const newMakers: (number | undefined)[] = [];
    const newRemovers: Set<number>[] = [];
    let old = 0;
    const copyTo = (end: number): void => {
      for (; old < end; old += 1) {
        newMakers.push(makers[old]);
        newRemovers.push(removers[old] ?? new Set());
      }
    };
    for (const { oldStart, oldCount, newCount } of diffLines(before, text, { timeoutMs }).edits) {
      copyTo(oldStart - 1);
      const removedHere = new Set<number>(oldCount > 0 ? [step] : []);
      for (let at = old; at < old + oldCount; at += 1) for (const one of removers[at] ?? []) removedHere.add(one);
      for (let line = 0; line < newCount; line += 1) {
        newMakers.push(step);
        newRemovers.push(line === 0 ? removedHere : new Set());
      }
      old += oldCount;
      if (newCount === 0) removers[old] = new Set([...(removers[old] ?? []), ...removedHere]);
    }
    copyTo(makers.length);
    newRemovers.push(removers[makers.length] ?? new Set());
    makers = newMakers;
    removers = newRemovers;
    before = text;
  }
  return hunks.map((hunk) => {
    const found = new Set<number>();
    let line = hunk.newRange.count === 0 ? hunk.newRange.start : hunk.newRange.start - 1;
    for (const shown of hunk.lines) {
      if (shown.startsWith("-")) for (const step of removers[line] ?? []) found.add(step);
      if (shown.startsWith("+")) {
        const maker = makers[line];
        if (maker !== undefined) found.add(maker);
      }
      if (!shown.startsWith("-")) line += 1;
    }
    const commands = [...found].toSorted((one, other) => one - other).map((step) => steps[step]?.command ?? "");
    return [...new Set(commands)].filter((command) => command !== "");
  });
}
