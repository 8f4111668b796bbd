import { createHash } from "node:crypto";
import type { ChangedBlock } from "@gennai/governance/tool";
import type { LineEdit } from "@gennai/protocol/diff/line-edit";

/** Lines of a text, 1-based; with `count` 0, lines were only removed before `start`. */
export interface LineSpan {
  readonly start: number;
  readonly count: number;
}

/**
 * Positions of the changed lines after another round of edits.
 * @param spans lines changed so far, in the text before these edits
 * @param edits ascending
 */
export function followEdits(spans: readonly LineSpan[], edits: readonly LineEdit[]): readonly LineSpan[] {
  const moved: LineSpan[] = edits.map((edit) => ({ start: edit.newStart, count: edit.newCount }));
  for (const span of spans) {
    const start = newLine(span.start, edits, "start");
    const end = newLine(span.start + span.count, edits, "end");
    moved.push({ start, count: Math.max(0, end - start) });
  }
  moved.sort((one, other) => one.start - other.start);
  const joined: LineSpan[] = [];
  for (const span of moved) {
    const last = joined.at(-1);
    if (last !== undefined && span.start <= last.start + last.count) {
      const end = Math.max(last.start + last.count, span.start + span.count);
      joined[joined.length - 1] = { start: last.start, count: end - last.start };
    } else joined.push(span);
  }
  return joined;
}

/** The new position of a border between lines; within an edit, it moves to that edit's border on the given side. */
function newLine(line: number, edits: readonly LineEdit[], side: "start" | "end"): number {
  let shift = 0;
  for (const edit of edits) {
    if (line <= edit.oldStart) break;
    if (line < edit.oldStart + edit.oldCount) return side === "start" ? edit.newStart : edit.newStart + edit.newCount;
    shift += edit.newCount - edit.oldCount;
  }
  return line + shift;
}

/**
 * The changed blocks with the hashes that the ledger names them by. A block's text is its lines joined by LF, without the last
 * line end, so that its hash depends neither on its position nor on the file's line ends. Spans without lines give no block.
 * @param spans ascending, not overlapping
 */
export function changedBlocks(text: string, spans: readonly LineSpan[]): readonly ChangedBlock[] {
  const blocks: ChangedBlock[] = [];
  let line = 1;
  let offset = 0;
  const skipTo = (wanted: number) => {
    while (line < wanted) {
      const at = text.indexOf("\n", offset);
      offset = at === -1 ? text.length : at + 1;
      line += 1;
    }
  };
  for (const span of spans) {
    if (span.count === 0) continue;
    skipTo(span.start);
    const start = offset;
    skipTo(span.start + span.count);
    const block = text.slice(start, offset).replaceAll("\r\n", "\n").replace(/\n$/, "");
    blocks.push({
      startLine: span.start,
      endLine: span.start + span.count - 1,
      sha256: createHash("sha256").update(block, "utf8").digest("hex"),
    });
  }
  return blocks;
}
