import type { ProposalReview, ReviewedHunk } from "@gennai/agent/events/proposal";
import type { WorkspacePath } from "@gennai/governance/effect";
import { ServiceError } from "@gennai/machine/service-error";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import type { FileContent, Workspace, WorkspaceChange } from "@gennai/machine/workspace/workspace";
import { applyReview, type HunkDecision, ReviewError, wholeChange } from "@gennai/protocol/apply-review";
import { mergedBytes } from "@gennai/protocol/diff/three-way-diff";
import { utf8Text } from "@gennai/protocol/diff/utf8-text";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { decisionsByChange, isKept } from "@gennai/protocol/whole-moves";
import type { BlobStore } from "@gennai/store/log/session-log";
import { currentContent } from "../tools/writing/change/file-change.ts";

/** The result of a review for one file. */
export interface ReviewedFile {
  readonly path: WorkspacePath;
  /** Name in the proposal. */
  readonly name: string;
  readonly change: WorkspaceChange;
  /** The new text; undefined for a delete. */
  readonly text: string | undefined;
  /** The current content. */
  readonly before: FileContent | undefined;
  /**
   * - `ready`: the file is as the proposal found it, or what changed since is on other lines and is part of the change
   * - `written`: it already is the result of the review, merged with what it held before if that is known
   * - `moved-on`: it is anything else
   */
  readonly state: "ready" | "written" | "moved-on";
  readonly beforeSha256: string | undefined;
  readonly afterSha256: string | undefined;
}

interface Ports {
  readonly workspace: Workspace;
  readonly blobs: BlobStore;
  readonly signal: AbortSignal;
}

/**
 * The results for the files of which the review keeps something; nothing is written. Uses the user's own decisions, not the
 * masked ones of the log. Throws `ServiceError` for a path outside, and for hunks that do not fit.
 */
export async function reviewedFiles(
  proposal: Proposal,
  review: ProposalReview,
  ports: Ports,
  onto: ProposalReview["onto"] = [],
): Promise<readonly ReviewedFile[]> {
  const files: ReviewedFile[] = [];
  const given = review.hunks.map((hunk) => ({ ...hunk, decision: decisionOf(hunk) }));
  const decided = decisionsByChange(proposal.changes, given);
  for (const change of proposal.changes) {
    const decisions = decided.get(change.id) ?? new Map<string, HunkDecision>();
    if (!isKept(decisions)) continue;
    const mergedWith = onto.find(({ path }) => path === change.path)?.sha256;
    const file = await reviewedFile(change, { decisions, mergedWith }, ports);
    if (file !== undefined) files.push(file);
  }
  return files;
}

async function reviewedFile(
  change: ProposedChange,
  {
    decisions,
    mergedWith,
  }: { readonly decisions: ReadonlyMap<string, HunkDecision>; readonly mergedWith: string | undefined },
  { workspace, blobs, signal }: Ports,
): Promise<ReviewedFile | undefined> {
  const path = await workspace.resolve(change.path, { isRecorded: true });
  // Files outside are not examined.
  if (!path.inside) {
    throw new ServiceError("permission_denied", `${change.path} is outside the workspace.`, {
      reason: "outside_workspace",
    });
  }
  const before = await currentContent(workspace, path, signal);
  const isFresh = !change.conflict && (before?.sha256 ?? "") === change.baseSha256;
  const base = isFresh ? before?.bytes : await keptBase(change, blobs);
  const { baseSha256 } = change;
  if (!isFresh && base === undefined && baseSha256 !== "") {
    const gone = { path, name: change.path, text: undefined, before, afterSha256: undefined };
    return { ...gone, beforeSha256: baseSha256, change: { operation: "delete", path, baseSha256 }, state: "moved-on" };
  }
  const after = await afterReview(change, base, { decisions, blobs });
  if (after === undefined) return undefined;
  const { text, bytes } = after;
  const mode = change.newMode === undefined || !keepsMode(change, decisions) ? {} : { mode: change.newMode };
  const afterSha256 = bytes === undefined ? undefined : sha256(bytes);
  const isElsewhere = !isFresh && !change.conflict && before !== undefined && before.sha256 !== afterSha256;
  const onto = (theirs: Uint8Array | undefined): Uint8Array | undefined =>
    isElsewhere && base && bytes && theirs ? mergedBytes({ base, mine: bytes, theirs }) : undefined;
  const merged = onto(before?.bytes);
  if (isElsewhere && merged !== undefined) {
    // A server that ended may have written it already.
    const earlier = mergedWith === undefined ? undefined : onto(await blobs.get(mergedWith));
    const isWritten = earlier !== undefined && sha256(earlier) === before.sha256;
    return {
      path,
      name: change.path,
      text: utf8Text(merged),
      before,
      beforeSha256: isWritten ? mergedWith : before.sha256,
      afterSha256: sha256(merged),
      change: { operation: "update", path, bytes: merged, baseSha256: before.sha256, ...mode },
      state: isWritten ? "written" : "ready",
    };
  }
  return {
    path,
    name: change.path,
    text,
    before,
    afterSha256,
    beforeSha256: baseSha256 === "" ? undefined : baseSha256,
    change:
      bytes === undefined
        ? { operation: "delete", path, baseSha256 }
        : baseSha256 === ""
          ? { operation: "create", path, bytes, ...mode }
          : { operation: "update", path, bytes, baseSha256, ...mode },
    state: isFresh ? "ready" : !change.conflict && before?.sha256 === afterSha256 ? "written" : "moved-on",
  };
}

/** Whether the new permission bits are kept: they belong to the whole change, so they are not if any part of it is refused. */
export function keepsMode(
  { hunks }: Pick<ProposedChange, "hunks">,
  decisions: ReadonlyMap<string, HunkDecision>,
): boolean {
  const whole = decisions.get(wholeChange);
  const choices = hunks.length === 0 ? [whole] : hunks.map(({ id }) => decisions.get(id) ?? whole);
  return choices.every((choice) => choice !== undefined && choice.type !== "undo");
}

/** A review's result for a file: `bytes` is undefined if the file is deleted. Undefined if nothing of the change is kept. */
export async function afterReview(
  change: ProposedChange,
  base: Uint8Array | undefined,
  {
    decisions,
    blobs,
  }: { readonly decisions: ReadonlyMap<string, HunkDecision>; readonly blobs: Pick<BlobStore, "get"> },
): Promise<{ readonly text: string | undefined; readonly bytes: Uint8Array | undefined } | undefined> {
  const isKept = decisions.get(wholeChange)?.type === "keep";
  if (change.binary === true) {
    if (!isKept) return undefined;
    return { text: undefined, bytes: change.operation === "delete" ? undefined : await proposedBytes(change, blobs) };
  }
  const baseText = base === undefined ? undefined : textOf(base, change.path);
  const newText = change.operation === "delete" ? undefined : textOf(await proposedBytes(change, blobs), change.path);
  const reviewed = decide(baseText, newText, change, decisions);
  // A change of permission bits alone does not change the text.
  const isMode = change.newMode !== undefined && isKept && change.hunks.length === 0;
  if (reviewed.type === "unchanged" && !isMode) return undefined;
  if (reviewed.type === "delete") return { text: undefined, bytes: undefined };
  const text = reviewed.type === "write" ? reviewed.text : (baseText ?? "");
  return { text, bytes: new TextEncoder().encode(text) };
}

function decide(
  base: string | undefined,
  newText: string | undefined,
  change: ProposedChange,
  decisions: ReadonlyMap<string, HunkDecision>,
): ReturnType<typeof applyReview> {
  try {
    return applyReview(base, newText, change, decisions);
  } catch (error) {
    if (!(error instanceof ReviewError)) throw error;
    throw new ServiceError("failed_precondition", error.message, { reason: error.code, cause: error });
  }
}

/** The text that a change was based on, if the file has changed since. */
async function keptBase(change: ProposedChange, blobs: BlobStore): Promise<Uint8Array | undefined> {
  return change.baseBlob === undefined ? undefined : blobs.get(change.baseBlob.sha256);
}

/** The whole new content as proposed: the log's copy may be masked. */
async function proposedBytes(change: ProposedChange, blobs: Pick<BlobStore, "get">): Promise<Uint8Array> {
  if (change.newContentBlob === undefined) return new TextEncoder().encode(change.newContent);
  const bytes = await blobs.get(change.newContentBlob.sha256);
  if (bytes !== undefined) return bytes;
  throw new ServiceError("failed_precondition", `The proposed text of ${change.path} is no longer stored.`, {
    reason: "content_gone",
    hint: "Ask for the change again.",
  });
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new ServiceError("failed_precondition", `${path} is not UTF-8 text, so its hunks cannot be applied.`, {
      reason: "unsupported_encoding",
      hint: "Leave this file out and apply the rest, or change it by hand.",
      cause: error,
    });
  }
}

export function decisionOf({ decision, editedText, note }: ReviewedHunk): HunkDecision {
  return decision === "edited" ? { type: "edited", text: editedText, note } : { type: decision, note };
}
