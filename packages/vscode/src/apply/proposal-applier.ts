import type { AppliedProposal, ReviewToApply } from "@gennai/client/host/window-requests";
import { originalText } from "@gennai/client/review/change-content";
import { type BaseFile, isStale, reviewedChange } from "@gennai/client/review/reviewed-change";
import type { AgentSession } from "@gennai/client/session/agent-session";
import type { AppliedFile, Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { decisionsByChange, type HunkDecisions, isKept } from "@gennai/protocol/whole-moves";
import { EditorError, reasonOf } from "../editor/editor-error.ts";
import type { EditorFiles } from "../editor/files/editor-files.ts";
import { readFileState } from "../editor/files/file-state.ts";
import { resolveInWorkspace } from "../editor/workspace-paths.ts";
import type { ChangeSets } from "./change-sets.ts";
import type { FinalChange } from "./final-change.ts";
import type { AskForRest, Overlap } from "./overlap.ts";
import { saveDocument } from "./save-document.ts";

/** The part of the proposing session that applying needs. */
export type ProposingSession = Pick<AgentSession, "submitReview" | "reportApplied" | "blob">;

export interface ProposalApplierOptions {
  readonly files: EditorFiles;
  readonly changeSets: ChangeSets;
  /** The session's folder, absolute. */
  readonly workspace: string;
  readonly ask: AskForRest;
  /** Lets the person merge what overlaps, once the rest is applied. */
  readonly merge: (overlaps: readonly Overlap[]) => Promise<void>;
}

/** Applies in this window what a user kept of a proposal. */
export class ProposalApplier {
  readonly #options: ProposalApplierOptions;

  constructor(options: ProposalApplierOptions) {
    this.#options = options;
  }

  /**
   * Sends the decisions to the server, applies what was kept as one undoable step that is saved, and reports it. What its user
   * changed since on other lines is merged with it, unsaved changes included. A file with a change of the same lines counts as
   * refused, and its user merges it; without their agreement nothing is sent or applied. Throws `EditorError`.
   */
  async apply(
    proposal: Proposal,
    review: ReviewToApply,
    options: { readonly session: ProposingSession; readonly signal: AbortSignal },
  ): Promise<AppliedProposal> {
    const { session, signal } = options;
    const { proposalId } = proposal;
    const { changeSets, ask, merge } = this.#options;
    const wanted = await this.#wanted(proposal, review, options);
    // Only now: a proposal is reviewed once, and until then a file that has changed meanwhile can be left out.
    const { changes, overlaps } = await changeSets.withoutOverlaps(wanted, ask);
    const hunks = decisionsWithout(review.hunks, proposal, overlaps);
    // The server keeps what it finds on the disk, for an undo.
    for (const { path } of changes) await this.#save(path);
    await session.submitReview({ proposalId, hunks, note: review.note }, { signal });
    let files: readonly AppliedFile[] = [];
    if (changes.length > 0) {
      try {
        files = await changeSets.apply(changes, { save: "all", signal });
      } catch (error) {
        const failed = { proposalId, files: [], error: reasonOf(error) };
        await session.reportApplied(failed, { signal }).catch(() => undefined);
        throw error;
      }
      await session.reportApplied({ proposalId, files, error: "" }, { signal });
    }
    await merge(overlaps);
    return { files: files.map(({ path }) => path) };
  }

  /** What was kept, on the texts that were proposed on. */
  async #wanted(
    proposal: Proposal,
    review: ReviewToApply,
    options: { readonly session: ProposingSession; readonly signal: AbortSignal },
  ): Promise<readonly FinalChange[]> {
    const decisions = decisionsByChange(proposal.changes, review.hunks);
    const changes: FinalChange[] = [];
    for (const change of proposal.changes) {
      const ofChange = decisions.get(change.id);
      if (ofChange === undefined || !isKept(ofChange)) continue;
      const final = await this.#final(change, ofChange, options);
      if (final !== undefined) changes.push(final);
    }
    return changes;
  }

  async #final(
    change: ProposedChange,
    decisions: HunkDecisions,
    options: { readonly session: ProposingSession; readonly signal: AbortSignal },
  ): Promise<FinalChange | undefined> {
    const { path, conflict, warning, baseSha256 } = change;
    const present = await this.#present(path);
    let base = present;
    if (isStale(change, present)) {
      const text = conflict || present === undefined ? undefined : await originalText(change, options);
      if (text === undefined) {
        throw new EditorError(
          "stale_file",
          `Nothing was applied: ${path} is no longer as the proposal found it. ${warning}`.trim(),
          "Leave this file out, or ask for the change again.",
        );
      }
      base = { text, sha256: baseSha256 };
    }
    const final = await reviewedChange(change, base, decisions, options);
    if (final?.operation === "create") {
      return { operation: "create", path, bytes: new TextEncoder().encode(final.text) };
    }
    return final?.operation === "update" && base !== undefined ? { ...final, from: base.text } : final;
  }

  async #save(name: string): Promise<void> {
    const { files, workspace } = this.#options;
    const document = files.openDocument((await resolveInWorkspace(workspace, name)).absolute);
    if (document?.isDirty !== true || (await saveDocument(document))) return;
    throw new EditorError("not_saved", `Nothing was applied: ${name} could not be saved.`, "See the editor's message.");
  }

  /** The present text: the buffer if it has unsaved changes, else exactly what is on disk. */
  async #present(name: string): Promise<BaseFile | undefined> {
    const { files, workspace } = this.#options;
    const { disk, buffer, path } = await readFileState(files, await resolveInWorkspace(workspace, name));
    if (buffer?.isDirty === true) return { text: buffer.text, sha256: buffer.sha256 };
    if (disk === undefined) return undefined;
    const document = buffer?.document ?? (await files.loadDocument(path.absolute));
    return { text: await files.decode(disk.bytes, document.encoding), sha256: disk.sha256 };
  }
}

/** The decisions, with the files that overlap refused and the reason for the model. */
function decisionsWithout(
  hunks: ReviewToApply["hunks"],
  { changes }: Proposal,
  overlaps: readonly Overlap[],
): ReviewToApply["hunks"] {
  const left = new Set(
    changes.filter(({ path }) => overlaps.some((overlap) => overlap.path === path)).map(({ id }) => id),
  );
  const note = "The user changed the same lines, and merges this file by hand.";
  return hunks.map((hunk) => (left.has(hunk.changeId) ? { ...hunk, decision: { type: "undo", note } } : hunk));
}
