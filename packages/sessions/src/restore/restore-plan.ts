import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import { mergedBytes } from "@gennai/protocol/diff/three-way-diff";
import { isWithin } from "@gennai/protocol/is-within";
import type { SkippedFile } from "@gennai/protocol/model/session/checkpoint";
import type { FileState, PathChange } from "@gennai/store/checkpoints/file-state";
import type { FileContents } from "./file-contents.ts";
import { inTheWayOf, type PresentFiles } from "./present-files.ts";

/** One file that a restore changes. */
export interface PlannedRestore {
  readonly path: string;
  readonly present: Exclude<FileState, { readonly type: "unknown" }>;
  readonly target: Exclude<FileState, { readonly type: "unknown" }>;
  /** Only the permission bits differ. */
  readonly isOnlyMode: boolean;
  /** What to write in place of the target: with what a user changed since elsewhere in the file. */
  readonly merged?: Uint8Array;
}

export interface RestorePlan {
  readonly restores: readonly PlannedRestore[];
  readonly skipped: readonly SkippedFile[];
}

/** Changes of one path over several steps. */
interface PathWork {
  first: FileState;
  last: FileState;
  /** Someone else changed it between two steps. */
  broken: boolean;
  /** Someone else may have changed it during a step. */
  uncertain: boolean;
}

/** Maximum size of a file that is merged, in bytes. */
const maxBytes = 1024 * 1024;

/**
 * What to write so that these changes are gone. What someone else changed since stays: a text is merged by hunks. Where both changed
 * the same lines, and where that is unknown, the file is skipped, unless the user names it and uses force.
 *
 * @param changes in the order in which they were made
 * @param options.paths files or directories; empty: all
 */
export async function planRestore(
  changes: readonly PathChange[],
  contents: FileContents,
  options: { readonly files: PresentFiles; readonly paths: readonly string[]; readonly force: boolean },
): Promise<RestorePlan> {
  const planned: PlannedRestore[] = [];
  const skipped: SkippedFile[] = [];
  /** SHA-256 of earlier contents that are not kept: they may only be where they were moved to. */
  const gone = new Set<string | undefined>();
  for (const [path, work] of await netWork(changes, contents, options.paths)) {
    const { first: target, last: expected, broken } = work;
    const present = await options.files.at(path);
    if (await contents.same(target, present)) continue;
    // Created and deleted, or changed and changed back: nothing is left to revert.
    if (!broken && (await contents.same(target, expected))) continue;
    const isOnlyMode =
      target.type === "file" && present.type === "file" && (await contents.isSameContent(target, present));
    const isKept =
      isOnlyMode || target.type === "absent" || (target.type !== "unknown" && (await contents.isKept(target)));
    if (target.type === "unknown" || !isKept) {
      if (target.type !== "unknown") gone.add(target.sha256);
      skipped.push({ path, reason: "not_kept" });
      continue;
    }
    if (present.type === "unknown") {
      skipped.push({ path, reason: "not_restored" });
      continue;
    }
    const isForced = options.force && options.paths.length > 0;
    const reason = await objection(work, present, contents);
    if (reason === undefined || isForced) {
      planned.push({ path, present, target, isOnlyMode });
      continue;
    }
    const merged =
      reason === "changed_since" ? await mergedWith(work, { path, present }, contents, options) : undefined;
    if (merged === undefined) skipped.push({ path, reason });
    else planned.push({ path, present, target, isOnlyMode: false, merged });
  }
  const paths = new Set(planned.map(({ path }) => path));
  const restores: PlannedRestore[] = [];
  for (const each of planned) {
    const { path, present, target } = each;
    // A directory was replaced with a link or a file.
    const obstacle = target.type === "absent" ? undefined : await inTheWayOf(options.files, path);
    if (present.type === "file" && gone.has(present.sha256)) {
      skipped.push({ path, reason: "not_kept" });
    } else if (obstacle === undefined || paths.has(obstacle)) restores.push(each);
    else skipped.push({ path, reason: "changed_since" });
  }
  return { restores, skipped };
}

async function objection(
  { last, broken, uncertain }: PathWork,
  present: FileState,
  contents: FileContents,
): Promise<SkippedFile["reason"] | undefined> {
  if (last.type === "unknown") return "not_certain";
  if (broken) return "changed_between";
  if (!(await contents.same(last, present))) return "changed_since";
  return uncertain ? "not_certain" : undefined;
}

async function mergedWith(
  { first, last }: PathWork,
  { path, present }: { readonly path: string; readonly present: FileState },
  contents: FileContents,
  { files }: { readonly files: PresentFiles },
): Promise<Uint8Array | undefined> {
  if (first.type !== "file" || last.type !== "file" || present.type !== "file") return undefined;
  if (last.mode !== undefined && present.mode !== undefined && last.mode !== present.mode) return undefined;
  const base = await contents.bytes(last, { maxBytes });
  const mine = await contents.bytes(first, { maxBytes });
  const theirs = await files.bytes(path, present);
  if (base === undefined || mine === undefined || theirs === undefined || theirs.length > maxBytes) return undefined;
  return mergedBytes({ base, mine, theirs });
}

async function netWork(
  changes: readonly PathChange[],
  contents: FileContents,
  paths: readonly string[],
): Promise<ReadonlyMap<string, PathWork>> {
  const net = new Map<string, PathWork>();
  for (const { path, before, after, uncertain = false } of changes) {
    if (paths.length > 0 && !paths.some((named) => isWithin(path, { directory: named }))) continue;
    const known = net.get(path);
    if (known === undefined) {
      net.set(path, { first: before, last: after, broken: false, uncertain });
      continue;
    }
    const follows = known.last.type === "unknown" || (await contents.same(known.last, before));
    known.broken ||= !follows;
    known.uncertain ||= uncertain;
    known.first = withMode(known.first, before);
    known.last = known.last.type === "unknown" ? known.last : withMode(after, known.last);
  }
  return net;
}

/** An edit that leaves the permission bits does not record them; another step may have. */
function withMode(state: FileState, other: FileState): FileState {
  if (state.type !== "file" || state.mode !== undefined || other.type !== "file" || other.mode === undefined)
    return state;
  return { ...state, mode: other.mode };
}

/** A recorded change as a restore takes it back. */
export function changeFromRecord(record: FileChangeRecord): PathChange {
  const { path, beforeSha256, afterSha256, beforeMode, afterMode, beforeLink, afterLink } = record;
  return {
    path,
    before: stateFrom(beforeSha256, beforeMode, beforeLink),
    after: stateFrom(afterSha256, afterMode, afterLink),
  };
}

function stateFrom(sha256: string | undefined, mode: number | undefined, isLink: boolean | undefined): FileState {
  if (sha256 === undefined) return { type: "absent" };
  return { type: isLink === true ? "link" : "file", sha256, ...(mode === undefined ? {} : { mode }) };
}
