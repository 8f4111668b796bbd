import { dirname, relative } from "node:path";
import type { FileWrite } from "@gennai/governance/effect";
import type { Entry } from "../../stage/files/look-at-entry.ts";
import type { FoundInTree } from "./found-in-tree.ts";
import { maxKeptFile } from "./loses-content.ts";
import type { StagedWork } from "./staged-work.ts";

/** A file as a staged command changed it, with what is needed to undo the change. */
export interface FoundEdit {
  /** Relative to the workspace. */
  readonly path: string;
  readonly operation: FileWrite["operation"];
  /** SHA-256; undefined where there was no file. */
  readonly beforeSha256: string | undefined;
  /** Undefined if there is no file any more. */
  readonly afterSha256: string | undefined;
  /** Permission bits of the earlier file. */
  readonly beforeMode: number | undefined;
  /** Directories that were created for it, outermost first; relative to the workspace. */
  readonly madeDirectories: readonly string[];
  /** The file's bytes in the workspace, still unchanged; undefined if there is no file, or one too large to be kept. */
  before(): Buffer | undefined;
  /**
   * What the command left; undefined if there is no file any more, or a larger one. Call it before the work is kept or dropped.
   */
  after(options: { readonly maxBytes: number }): Buffer | undefined;
}

/** Most files whose bytes are kept in the session's log; beyond that, a snapshot keeps the tree. */
const maxFiles = 1_000;
const maxBytes = 64 * 1024 * 1024;

type RegularFile = Extract<Entry, { readonly type: "file" }>;

/**
 * A staged command's changes of the tree, as edits. Undefined if edits cannot express everything: links, permission bits of
 * existing files, paths outside the workspace, or more than a session's log should contain.
 */
export function foundEdits(work: StagedWork, found: readonly FoundInTree[]): readonly FoundEdit[] | undefined {
  if (found.length > maxFiles) return undefined;
  const made = madeDirectories(work);
  const edits: FoundEdit[] = [];
  let bytes = 0;
  for (const { effect, write } of found) {
    const [before, after] = [regularFile(effect.before), regularFile(effect.after)];
    if (!write.path.inside || before === "other" || after === "other") return undefined;
    if (before !== undefined && after !== undefined && before.mode !== after.mode) return undefined;
    const kept = before !== undefined && before.size <= maxKeptFile ? before : undefined;
    bytes += kept?.size ?? 0;
    if (bytes > maxBytes) return undefined;
    edits.push({
      path: write.path.relative,
      operation: write.operation,
      beforeSha256: before?.sha256,
      afterSha256: after?.sha256,
      beforeMode: before?.mode,
      madeDirectories: before === undefined ? made(write.path.relative) : [],
      before: () => (kept === undefined ? undefined : work.before(effect)),
      after: ({ maxBytes }) => (after === undefined || after.size > maxBytes ? undefined : work.staged(effect)),
    });
  }
  return edits;
}

function regularFile(entry: Entry | undefined): RegularFile | "other" | undefined {
  if (entry === undefined) return undefined;
  // A file that this user may not read has no digest.
  return entry.type === "file" && entry.sha256 !== undefined ? entry : "other";
}

/** Returns a function that gives the directories above a path that the command made, outermost first. */
function madeDirectories(work: StagedWork): (path: string) => readonly string[] {
  const made = new Set(
    work.effects
      .filter(({ before, after }) => before === undefined && after?.type === "directory")
      .map((effect) => relative(work.workspaceRoot, work.absolute(effect))),
  );
  return (path) => {
    const above: string[] = [];
    for (let at = dirname(path); made.has(at); at = dirname(at)) above.unshift(at);
    return above;
  };
}
