import { mergedText } from "@gennai/protocol/diff/three-way-diff";
import { textWithoutNul } from "@gennai/protocol/diff/utf8-text";
import {
  type FileState,
  isSameConflict,
  isSameState,
  type StagedConflict,
  type StagedFile,
  type StagedVersion,
} from "./staged-file.ts";
import type { FileBytes, StagedTree } from "./staged-tree.ts";

/** Paths of staged files whose file in the workspace was changed by others. */
export interface Rebased {
  /** Both changes were merged. */
  readonly merged: readonly string[];
  /** New conflicts: both sides changed the same, or the present file cannot be read. The staged content is unchanged. */
  readonly conflicts: readonly string[];
  /** The workspace now has what was staged. */
  readonly landed: readonly string[];
}

/** Rebases the staged tree onto the present workspace. @param now reads a present file; undefined: none. It must not reject. */
export async function rebaseStagedTree(
  tree: StagedTree,
  now: (path: string) => Promise<FileBytes | "unreadable" | undefined>,
): Promise<Rebased> {
  const merged: string[] = [];
  const conflicts: string[] = [];
  const landed: string[] = [];
  const looked = new Map<string, FileBytes | "unreadable" | undefined>();
  const inConflict = (file: StagedFile, conflict: StagedConflict): StagedFile => {
    if (isSameConflict(file.conflict, conflict)) return file;
    conflicts.push(file.path);
    return { ...file, conflict };
  };
  for (const path of tree.files.keys()) {
    const there = await now(path);
    looked.set(path, there);
    const file = tree.files.get(path);
    // Already here, because this process stands still while two long texts are merged in vain: once for each, and not for all.
    if (file !== undefined && there !== "unreadable") onto(tree, file, there === undefined ? null : tree.store(there));
  }
  // From here on without an await, so that nobody changes the tree in between.
  const files = [...tree.files.values()].flatMap((file): readonly StagedFile[] => {
    if (!looked.has(file.path)) return [file];
    const there = looked.get(file.path);
    if (there === "unreadable") return [inConflict(file, "unreadable")];
    const current = there === undefined ? null : tree.store(there);
    if (isSameState(current, file.staged)) {
      landed.push(file.path);
      return [];
    }
    if (isSameState(current, file.base)) return [file.conflict === null ? file : { ...file, conflict: null }];
    const onCurrent = onto(tree, file, current);
    if (onCurrent !== undefined) {
      merged.push(file.path);
      return [onCurrent];
    }
    const conflict = current ?? "no-file";
    const conflicting = inConflict(file, conflict);
    unmergeable.set(conflicting, conflict);
    return [conflicting];
  });
  const isChanged = files.length !== tree.files.size || files.some((file) => tree.files.get(file.path) !== file);
  if (isChanged) tree.replace(files);
  return { merged, conflicts, landed };
}

/** The present file with which a staged one cannot be merged. A staged file that changes is another object. */
const unmergeable = new WeakMap<StagedFile, StagedConflict>();

/** The file on top of the present one; undefined if the two cannot be merged. */
function onto(tree: StagedTree, file: StagedFile, current: FileState | null): StagedFile | undefined {
  const conflict = current ?? "no-file";
  if (isSameConflict(unmergeable.get(file) ?? null, conflict)) return undefined;
  if (isSameState(current, file.staged) || isSameState(current, file.base)) return file;
  const onCurrent = rebased(tree, file, current);
  if (onCurrent === undefined) unmergeable.set(file, conflict);
  return onCurrent;
}

function rebased(tree: StagedTree, file: StagedFile, current: FileState | null): StagedFile | undefined {
  const { base, staged } = file;
  if (base === null || staged === null || current === null) return undefined;
  const mode = staged.mode === base.mode ? current.mode : staged.mode;
  if (current.sha256 === base.sha256) return { ...file, base: current, staged: { ...staged, mode }, conflict: null };
  const onCurrent = (sha256: string): string | undefined => {
    const [from, mine, theirs] = [base.sha256, sha256, current.sha256].map((one) => textWithoutNul(tree.content(one)));
    if (from === undefined || mine === undefined || theirs === undefined) return undefined;
    const text = mergedText({ base: from, mine, theirs });
    return text === undefined ? undefined : tree.store({ bytes: Buffer.from(text), mode }).sha256;
  };
  const sha256 = onCurrent(staged.sha256);
  if (sha256 === undefined) return undefined;
  // A step that does not fit any more becomes a part of the next one.
  const versions = file.versions.flatMap((version): readonly StagedVersion[] => {
    const fitting = version.sha256 === null ? undefined : onCurrent(version.sha256);
    return fitting === undefined ? [] : [{ ...version, sha256: fitting }];
  });
  return { ...file, base: current, staged: { sha256, mode }, versions, conflict: null, at: Date.now() };
}
