import type { AppliedProposal, ReviewToApply } from "@gennai/client/host/window-requests";
import {
  type BaseFile,
  type HunkDecisions,
  isKept,
  isStale,
  reviewedChange,
} from "@gennai/client/review/reviewed-change";
import type { AgentSession } from "@gennai/client/session/agent-session";
import type { HunkDecision } from "@gennai/protocol/apply-review";
import type { AppliedFile, Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { wholeMoves } from "@gennai/protocol/whole-moves";
import { EditorError, reasonOf } from "../editor/editor-error.ts";
import type { EditorFiles } from "../editor/files/editor-files.ts";
import { type FileState, readFileState } from "../editor/files/file-state.ts";
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
   * Sends the decisions to the server, applies what was kept as one undoable step that is saved, and reports it. Nothing is sent
   * or applied unless every file is still as the proposal found it, unsaved changes included. Throws `EditorError`. The
   * proposal's id is also the id of the change set, to revert it.
   */
  async apply(
    proposal: Proposal,
    review: ReviewToApply,
    options: { readonly session: ProposingSession; readonly signal: AbortSignal },
  ): Promise<AppliedProposal> {
    const { session, signal } = options;
    const { proposalId } = proposal;
    const decisions = wholeMoves(proposal.changes, decisionsByChange(review));
    const changes: FinalChange[] = [];
    for (const change of proposal.changes) {
      const ofChange: HunkDecisions = decisions.get(change.id) ?? new Map();
      if (!isKept(ofChange)) continue;
      const final = await reviewedChange(change, await this.#freshBase(change), ofChange, options);
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

  async #freshBase(change: ProposedChange): Promise<BaseFile | undefined> {
    const { path } = change;
    const base = await this.#baseText(
      await readFileState(this.#options.files, await resolveInWorkspace(this.#options.workspace, path)),
    );
    if (!isStale(change, base)) return base;
    throw new EditorError(
      "stale_file",
      `Nothing was applied: ${path} is no longer as the proposal found it. ${change.warning}`.trim(),
      "Leave this file out, or ask for the change again.",
    );
  }

  /** The text that the proposal is based on: the buffer if it has unsaved changes, else exactly what is on disk. */
  async #baseText({ disk, buffer, path }: FileState): Promise<BaseFile | undefined> {
    if (buffer?.isDirty === true) return { text: buffer.text, sha256: buffer.sha256 };
    if (disk === undefined) return undefined;
    const { files } = this.#options;
    const document = buffer?.document ?? (await files.loadDocument(path.absolute));
    return { text: await files.decode(disk.bytes, document.encoding), sha256: disk.sha256 };
  }
}

function decisionsByChange(review: ReviewToApply): ReadonlyMap<string, HunkDecisions> {
  const decisions = new Map<string, Map<string, HunkDecision>>();
  for (const { changeId, hunkId, decision } of review.hunks) {
    const ofChange = decisions.get(changeId) ?? new Map<string, HunkDecision>();
    ofChange.set(hunkId, decision);
    decisions.set(changeId, ofChange);
  }
  return decisions;
}
