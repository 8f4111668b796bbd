import type { FileWrite } from "@gennai/governance/effect";
import type { DirectoryChange } from "@gennai/machine/change-set/directories-back";
import type { Entry } from "@gennai/machine/entries/look-at-entry";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import type { StageEffect } from "@gennai/stage/observe/effect";
import type { FoundInTree } from "./found-in-tree.ts";
import type { StagedWork } from "./staged-work.ts";

/** A file or a link before or after a staged command. */
export interface FoundContent {
  readonly isLink: boolean;
  /** Of a file's bytes, or of a link's target; `unknownContent` if nobody can tell. */
  readonly sha256: string;
  /** Permission bits; undefined for a link. */
  readonly mode: number | undefined;
}

/** A file as a staged command changed it, with what is needed to undo the change. */
export interface FoundEdit {
  /** Relative to the workspace. */
  readonly path: string;
  readonly operation: FileWrite["operation"];
  /** Undefined where there was no file. */
  readonly before: FoundContent | undefined;
  /** Undefined if there is no file any more. */
  readonly after: FoundContent | undefined;
  /**
   * Bytes of a content that must be copied before it is kept, as undo needs it; undefined if it needs none, or the commit itself
   * keeps the file.
   */
  copied(): Buffer | undefined;
  /** Undo needs the earlier file, which the commit keeps. */
  readonly isKeptByCommit: boolean;
  /**
   * What the command left; undefined if there is no file any more, or a larger one. Call it before the work is kept or dropped.
   */
  bytesAfter(options: { readonly maxBytes: number }): Buffer | undefined;
}

/** The digest of a content that could not be read, or is none: nothing has it. */
const unknownContent = "0".repeat(64);

/** Limits for copying earlier contents: bytes of one file, files and bytes of one command. Beyond them the commit keeps the files. */
const most = { size: 16 * 1024 * 1024, files: 1_000, bytes: 64 * 1024 * 1024 };

/** All that undo needs of a staged command's changes of the tree. */
export interface FoundEdits {
  readonly files: readonly FoundEdit[];
  readonly directories: readonly DirectoryChange[];
}

/** @param found those of the kept effects that were judged */
export function foundEdits(work: StagedWork, found: readonly FoundInTree[], kept: readonly StageEffect[]): FoundEdits {
  return { files: foundFiles(work, found), directories: foundDirectories(work, kept) };
}

function foundFiles(work: StagedWork, found: readonly FoundInTree[]): readonly FoundEdit[] {
  const sizes = found.map(({ effect: { before } }) => (before?.type === "file" ? before.size : 0));
  const small = sizes.filter((size) => size <= most.size);
  const isCopiedWhole = found.length <= most.files && small.reduce((sum, size) => sum + size, 0) <= most.bytes;
  return found.flatMap(({ effect, write }): readonly FoundEdit[] => {
    const [before, after] = [contentOf(effect.before), contentOf(effect.after)];
    if (!write.path.inside || (before ?? after) === undefined) return [];
    const isSame = before?.sha256 === after?.sha256 && before?.isLink === after?.isLink;
    const size = effect.before?.type === "file" ? effect.before.size : 0;
    const isCopied = before?.isLink === true || (isCopiedWhole && size <= most.size);
    const isNeeded = before !== undefined && before.sha256 !== unknownContent && !isSame;
    return [
      {
        path: write.path.relative,
        operation: before === undefined ? "create" : after === undefined ? "delete" : "update",
        before,
        after,
        copied: () => (isNeeded && isCopied ? work.before(effect) : undefined),
        isKeptByCommit: isNeeded && !isCopied,
        bytesAfter: ({ maxBytes }) =>
          effect.after?.type === "file" && effect.after.size <= maxBytes ? work.staged(effect) : undefined,
      },
    ];
  });
}

function contentOf(entry: Entry | undefined): FoundContent | undefined {
  switch (entry?.type) {
    case "file":
      return { isLink: false, sha256: entry.sha256 ?? unknownContent, mode: entry.mode & 0o777 };
    case "link":
      return { isLink: true, sha256: sha256(Buffer.from(entry.target)), mode: undefined };
    case "other":
      return { isLink: false, sha256: unknownContent, mode: undefined };
    case "directory":
    case undefined:
      return undefined;
  }
}

/** What the effects do to directories themselves. */
function foundDirectories(work: StagedWork, kept: readonly StageEffect[]): readonly DirectoryChange[] {
  return kept.flatMap((effect): readonly DirectoryChange[] => {
    const { inside, relative } = work.workspacePath(work.absolute(effect));
    const [beforeMode, afterMode] = [effect.before, effect.after].map(modeOfDirectory);
    if (!inside || work.isInGit(effect) || beforeMode === afterMode) return [];
    return [{ path: relative, beforeMode, afterMode }];
  });
}

function modeOfDirectory(entry: Entry | undefined): number | undefined {
  return entry?.type === "directory" ? entry.mode & 0o777 : undefined;
}
