import { mergedText } from "../changes/diff/three-way-diff.ts";
import {
  type FileState,
  isSameConflict,
  isSameState,
  type StagedConflict,
  type StagedFile,
  type StagedVersion,
} from "./staged-file.ts";
import type { FileBytes, StagedTree } from "./staged-tree.ts";

/** Staged files whose file in the workspace was changed by others. Paths. */
export interface Rebased {
  /** Put together with what was saved. */
  readonly merged: readonly string[];
  /** Newly: both changed the same, or nobody can tell what is there. What is staged stays as it was. */
  readonly conflicts: readonly string[];
  /** The workspace has it now. */
  readonly landed: readonly string[];
}

/** Puts the staged tree on what the workspace is now. @param now what is there; undefined for no file. It does not reject. */
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
  for (const path of tree.files.keys()) looked.set(path, await now(path));
  // From here on nothing waits, so that nobody changes the tree between.
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
    const onCurrent = rebased(tree, file, current);
    if (onCurrent !== undefined) {
      merged.push(file.path);
      return [onCurrent];
    }
    return [inConflict(file, current ?? "no-file")];
  });
  const isChanged = files.length !== tree.files.size || files.some((file) => tree.files.get(file.path) !== file);
  if (isChanged) tree.replace(files);
  return { merged, conflicts, landed };
}

/** undefined where the two cannot be put together. */
function rebased(tree: StagedTree, file: StagedFile, current: FileState | null): StagedFile | undefined {
  const { base, staged } = file;
  if (base === null || staged === null || current === null) return undefined;
  const mode = staged.mode === base.mode ? current.mode : staged.mode;
  if (current.sha256 === base.sha256) return { ...file, base: current, staged: { ...staged, mode }, conflict: null };
  const onCurrent = (sha256: string): string | undefined => {
    const [from, mine, theirs] = [base.sha256, sha256, current.sha256].map((one) => textOf(tree.content(one)));
    if (from === undefined || mine === undefined || theirs === undefined) return undefined;
    const text = mergedText({ base: from, mine, theirs });
    return text === undefined ? undefined : tree.store({ bytes: Buffer.from(text), mode }).sha256;
  };
  const sha256 = onCurrent(staged.sha256);
  if (sha256 === undefined) return undefined;
  // A step that does not fit any more is told as a part of the one after it.
  const versions = file.versions.flatMap((version): readonly StagedVersion[] => {
    const fitting = version.sha256 === null ? undefined : onCurrent(version.sha256);
    return fitting === undefined ? [] : [{ ...version, sha256: fitting }];
  });
  return { ...file, base: current, staged: { sha256, mode }, versions, conflict: null, at: Date.now() };
}

/** undefined for what is not UTF-8 text. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
