import { isUtf8 } from "node:buffer";
import { diffLines } from "@gennai/protocol/diff/line-diff";
import type { FileContents } from "./file-contents.ts";
import type { PresentFiles } from "./present-files.ts";
import type { PlannedRestore } from "./restore-plan.ts";

/** Lines that a restore adds to and removes from a file. */
export interface RestoredLines {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
}

/** Limits for counting, because a preview must be fast: files, bytes of a file, milliseconds. */
const most = { files: 200, bytes: 1_000_000, all: 1000 };

/**
 * Line counts of the files that have any: not of binary or huge files, those whose earlier content is no longer kept, or those
 * after the time limit.
 */
export async function restoredLines(
  restores: readonly PlannedRestore[],
  contents: FileContents,
  files: Pick<PresentFiles, "bytes">,
): Promise<readonly RestoredLines[]> {
  const deadline = performance.now() + most.all;
  const counted: RestoredLines[] = [];
  for (const { path, present, target, isOnlyMode, merged } of restores.slice(0, most.files)) {
    const left = deadline - performance.now();
    if (left <= 0) break;
    if (isOnlyMode) continue;
    const now = present.type === "absent" ? nothing : await files.bytes(path, present);
    const bytes =
      target.type === "absent" ? nothing : (merged ?? (await contents.bytes(target, { maxBytes: most.bytes })));
    const before = now === undefined ? undefined : textOf(now);
    const after = bytes === undefined ? undefined : textOf(bytes);
    if (before === undefined || after === undefined) continue;
    const { edits } = diffLines(before, after, { timeoutMs: left });
    counted.push({
      path,
      added: edits.reduce((sum, { newCount }) => sum + newCount, 0),
      removed: edits.reduce((sum, { oldCount }) => sum + oldCount, 0),
    });
  }
  return counted;
}

const nothing = new Uint8Array();

/** Undefined if it is not text. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > most.bytes || bytes.includes(0) || !isUtf8(bytes)) return undefined;
  return new TextDecoder().decode(bytes);
}
