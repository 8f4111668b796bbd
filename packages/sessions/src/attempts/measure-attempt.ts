import { join } from "node:path";
import { editableText } from "@gennai/machine/changes/editable-text";
import { diffLines } from "@gennai/protocol/diff/line-diff";
import { changesBetween, contentAt, type FileState, readTreeState, type TreeState } from "@gennai/shell/tree-state";
import type { Attempt, AttemptChange } from "./attempt.ts";
import type { OpenAttempts } from "./kept-attempts.ts";

/** Maximum milliseconds for comparing two texts. */
const timeoutMs = 200;

/**
 * Lists an attempt's changes in its copy, and keeps the bytes before and after. The copy must no longer be in use. Rejects if
 * the changes cannot be determined.
 */
export async function measureAttempt(
  directory: string,
  {
    base,
    state,
    open,
    signal,
  }: {
    readonly base: string;
    readonly state: TreeState;
    readonly open: Pick<OpenAttempts, "keep">;
    readonly signal: AbortSignal;
  },
): Promise<Pick<Attempt, "changes" | "addedLines" | "removedLines">> {
  const changes: AttemptChange[] = [];
  let [addedLines, removedLines] = [0, 0];
  for (const { path, before, after } of changesBetween(state, await readTreeState(directory, signal))) {
    const bytes = [bytesOf(join(base, path), before), bytesOf(join(directory, path), after)] as const;
    for (const [index, one] of [before, after].entries()) {
      const content = bytes[index];
      if (one !== undefined && content !== undefined) open.keep(one.sha256, content);
    }
    const lines = changedLines(...bytes);
    addedLines += lines.added;
    removedLines += lines.removed;
    changes.push({ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) });
  }
  return { changes, addedLines, removedLines };
}

function bytesOf(path: string, state: FileState | undefined): Buffer | undefined {
  return state === undefined ? undefined : contentAt(path, state.kind);
}

/** A binary file or a mode change counts as one line. */
function changedLines(
  before: Buffer | undefined,
  after: Buffer | undefined,
): { readonly added: number; readonly removed: number } {
  const [oldText, newText] = [before, after].map((bytes) => (bytes === undefined ? "" : editableText(bytes)?.text));
  if (oldText === undefined || newText === undefined || oldText === newText) return { added: 1, removed: 0 };
  const { edits } = diffLines(oldText, newText, { timeoutMs });
  return {
    added: edits.reduce((sum, { newCount }) => sum + newCount, 0),
    removed: edits.reduce((sum, { oldCount }) => sum + oldCount, 0),
  };
}
