import { unifiedDiff } from "@gennai/machine/changes/unified-diff";
import type { BlobRef, ChangeOperation, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { hunkCommands, type TextStep } from "@gennai/shell/proposal/hunk-commands";
import { type FileState, ordinaryMode, type StagedFile } from "@gennai/shell/proposal/staged-file";
import type { StagedTree } from "@gennai/shell/proposal/staged-tree";
import type { BlobStore } from "@gennai/store/log/session-log";

/** Text up to this length is in the event itself; longer text only in its blob. */
const inlineLength = 16 * 1024;

/** Everything staged, as changes for the user to review. Writes only blobs. */
export async function stagedChanges(
  tree: StagedTree,
  blobs: Pick<BlobStore, "put">,
): Promise<readonly ProposedChange[]> {
  const changes: ProposedChange[] = [];
  for (const file of tree.files.values())
    changes.push(await stagedChange(tree, file, { blobs, id: `c${changes.length + 1}` }));
  return changes;
}

export function operationOf({ base, staged }: StagedFile): ChangeOperation {
  return base === null ? "create" : staged === null ? "delete" : "update";
}

/** The content as text; undefined for anything else. */
export function textAt(tree: StagedTree, state: Pick<FileState, "sha256"> | null): string | undefined {
  if (state === null) return "";
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(tree.content(state.sha256));
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

async function stagedChange(
  tree: StagedTree,
  file: StagedFile,
  { blobs, id }: { readonly blobs: Pick<BlobStore, "put">; readonly id: string },
): Promise<ProposedChange> {
  const { path, base, staged, conflict, movedFrom } = file;
  const operation = operationOf(file);
  const [oldText, newText] = [textAt(tree, base), textAt(tree, staged)];
  const isText = oldText !== undefined && newText !== undefined;
  const diff = isText
    ? unifiedDiff({ path, operation, oldText, newText })
    : { text: binaryDiff(path, operation), hunks: [] };
  const commands = [...new Set(file.versions.map(({ command }) => command))].filter((command) => command !== "");
  const ofHunks = isText ? hunkCommands(oldText, textSteps(tree, file), diff.hunks) : [];
  const newMode = modeChange(base, staged);
  const put = async (state: FileState | null): Promise<BlobRef | undefined> =>
    state === null
      ? undefined
      : blobs.put(tree.content(state.sha256), isText ? "text/plain; charset=utf-8" : "application/octet-stream");
  const [newContentBlob, baseBlob] = [await put(staged), await put(base)];
  return {
    id,
    path,
    operation,
    unifiedDiff: modeLines(base, staged) + diff.text,
    newContent: isText && newText.length <= inlineLength ? newText : "",
    ...(newContentBlob === undefined ? {} : { newContentBlob }),
    baseSha256: base?.sha256 ?? "",
    ...(baseBlob === undefined ? {} : { baseBlob }),
    conflict: conflict !== null,
    warning: warningOf(file, newMode),
    hunks: diff.hunks.map((hunk, index) => {
      const made = ofHunks[index] ?? [];
      return made.length === 0 ? hunk : { ...hunk, commands: made };
    }),
    ...(newMode === undefined ? {} : { newMode }),
    ...(isText ? {} : { binary: true }),
    ...(commands.length === 0 ? {} : { commands }),
    ...(movedFrom === "" || !isGone(tree, movedFrom) ? {} : { movedFrom }),
  };
}

/** Whether the path is proposed for deletion. */
function isGone(tree: StagedTree, path: string): boolean {
  return tree.files.get(path)?.staged === null;
}

/** The steps to the staged content; non-text steps are merged into the next one. */
function textSteps(tree: StagedTree, { versions }: StagedFile): readonly TextStep[] {
  return versions.flatMap(({ sha256, command }) => {
    const text = textAt(tree, sha256 === null ? null : { sha256 });
    return text === undefined ? [] : [{ text, command }];
  });
}

function modeChange(base: FileState | null, staged: FileState | null): number | undefined {
  return staged === null || staged.mode === (base?.mode ?? ordinaryMode) ? undefined : staged.mode;
}

function modeLines(base: FileState | null, staged: FileState | null): string {
  const mode = modeChange(base, staged);
  if (mode === undefined) return "";
  return base === null ? `new file mode ${octal(mode)}\n` : `old mode ${octal(base.mode)}\nnew mode ${octal(mode)}\n`;
}

function warningOf({ base, conflict }: StagedFile, newMode: number | undefined): string {
  const warnings: string[] = [];
  if (conflict === "unreadable") {
    warnings.push("What is there in the workspace by now cannot be read as a file. Leave it out.");
  } else if (conflict !== null) {
    warnings.push("It changed in the workspace since, in the same lines. Leave it out, and ask for the change again.");
  }
  if (newMode !== undefined) {
    warnings.push(
      base === null
        ? `Its mode will be ${octal(newMode)}.`
        : `Its mode changes from ${octal(base.mode)} to ${octal(newMode)}.`,
    );
  }
  return warnings.join(" ");
}

function octal(mode: number): string {
  return `100${mode.toString(8).padStart(3, "0")}`;
}

function binaryDiff(path: string, operation: ChangeOperation): string {
  const [from, to] = [
    operation === "create" ? "/dev/null" : `a/${path}`,
    operation === "delete" ? "/dev/null" : `b/${path}`,
  ];
  return `Binary files ${from} and ${to} differ\n`;
}
