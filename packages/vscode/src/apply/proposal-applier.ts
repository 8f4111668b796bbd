import type { AppliedProposal, ReviewToApply } from "@gennai/client/host/window-requests";
import { originalText } from "@gennai/client/review/change-content";
import { type BaseFile, isStale, type ReviewedChange, reviewedChange } from "@gennai/client/review/reviewed-change";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { mergedText } from "@gennai/protocol/diff/three-way-diff";
import type { AppliedFile, Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { decisionsByChange, type HunkDecisions, isKept } from "@gennai/protocol/whole-moves";
import { EditorError, reasonOf } from "../editor/editor-error.ts";
import type { EditorFiles } from "../editor/files/editor-files.ts";
import { readFileState } from "../editor/files/file-state.ts";
import { resolveInWorkspace } from "../editor/workspace-paths.ts";
import type { ChangeSets } from "./change-sets.ts";
import type { FinalChange } from "./final-change.ts";

/** The part of the proposing session that applying needs. */
export type ProposingSession = Pick<AgentSession, "submitReview" | "reportApplied" | "blob">;

export interface ProposalApplierOptions {
  readonly files: EditorFiles;
  readonly changeSets: ChangeSets;
  /** The session's folder, absolute. */
  readonly workspace: string;
}

/** Applies in this window what a user kept of a proposal. */
export class ProposalApplier {
  readonly #options: ProposalApplierOptions;

  constructor(options: ProposalApplierOptions) {
    this.#options = options;
  }

  /**
   * Sends the decisions to the server, applies what was kept as one undoable step that is saved, and reports it. What its user
   * changed since on other lines is merged with it, unsaved changes included; if it is on the same lines of a file, nothing is sent
   * or applied. Throws `EditorError`. The proposal's id is also the id of the change set, to revert it.
   */
  async apply(
    proposal: Proposal,
    review: ReviewToApply,
    options: { readonly session: ProposingSession; readonly signal: AbortSignal },
  ): Promise<AppliedProposal> {
    const { session, signal } = options;
    const { proposalId } = proposal;
    const decisions = decisionsByChange(proposal.changes, review.hunks);
    const changes: FinalChange[] = [];
    for (const change of proposal.changes) {
      const ofChange = decisions.get(change.id);
      if (ofChange === undefined || !isKept(ofChange)) continue;
      const present = await this.#present(change.path);
      const final = isStale(change, present)
        ? await merged(change, present, ofChange, options)
        : await reviewedChange(change, present, ofChange, options);
      if (final?.operation === "create")
        changes.push({ operation: "create", path: final.path, bytes: new TextEncoder().encode(final.text) });
      else if (final !== undefined) changes.push(final);
    }
    // Only now: a proposal is reviewed once, and until then a file that has changed meanwhile can be left out.
    await session.submitReview({ proposalId, hunks: review.hunks, note: review.note }, { signal });
    if (changes.length === 0) return { files: [] };
    let files: readonly AppliedFile[];
    try {
      files = await this.#options.changeSets.apply(proposalId, changes, { save: "all", signal });
    } catch (error) {
      await session.reportApplied({ proposalId, files: [], error: reasonOf(error) }, { signal }).catch(() => undefined);
      throw error;
    }
    await session.reportApplied({ proposalId, files, error: "" }, { signal });
    return { files: files.map(({ path }) => path) };
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

/** What was kept, on top of what its user changed since. Throws `EditorError` where both changed the same lines. */
async function merged(
  change: ProposedChange,
  present: BaseFile | undefined,
  decisions: HunkDecisions,
  options: { readonly session: ProposingSession; readonly signal: AbortSignal },
): Promise<ReviewedChange | undefined> {
  const { path, conflict, warning, baseSha256 } = change;
  const base = conflict || present === undefined ? undefined : await originalText(change, options);
  if (base !== undefined && present !== undefined) {
    const kept = await reviewedChange(change, { text: base, sha256: baseSha256 }, decisions, options);
    if (kept === undefined) return undefined;
    const text = kept.operation === "update" ? mergedText({ base, mine: kept.text, theirs: present.text }) : undefined;
    if (text !== undefined) return { operation: "update", path, text, baseSha256: present.sha256 };
  }
  throw new EditorError(
    "stale_file",
    `Nothing was applied: ${path} is no longer as the proposal found it. ${warning}`.trim(),
    "Leave this file out, or ask for the change again.",
  );
}
