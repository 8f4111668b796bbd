import type { Workspace } from "@gennai/machine/workspace/workspace";
import { rebaseStagedTree } from "@gennai/shell/proposal/rebase-staged-tree";
import { maxStagedBytes } from "@gennai/shell/proposal/staged-file";
import { type FileBytes, StagedTree } from "@gennai/shell/proposal/staged-tree";
import { StagedWorkspace } from "@gennai/shell/proposal/staged-workspace";
import { whyNotStaged } from "../policies/proposal-mode.ts";
import type { Session } from "../session/session.ts";
import { ProposalReader } from "./proposal-reader.ts";
import { settleReviews } from "./settle-reviews.ts";

/** Staged changes of a session in Proposal Mode: everything that its tools and commands changed and the user has not kept yet. */
export class SessionProposal {
  readonly tree: StagedTree;
  /** The workspace with the staged changes. */
  readonly workspace: Workspace;
  /** The conversation of the session itself. */
  readonly reader: ProposalReader;
  readonly #session: Session;
  #notes: string[] = [];
  #isLossTold = false;
  #renewing: Promise<void> = Promise.resolve();

  private constructor(session: Session, { stateDir }: { readonly stateDir: string }) {
    this.#session = session;
    this.tree = StagedTree.open(stateDir, session.id, { path: session.workspace.root });
    this.reader = new ProposalReader(this.tree);
    this.workspace = new StagedWorkspace(session.workspace, this.tree, { stateDir });
  }

  /** A message for the user, once: staged changes of an earlier server could not be read. */
  takeLoss(): string | undefined {
    if (this.tree.wasReadable || this.#isLossTold) return undefined;
    this.#isLossTold = true;
    return "What was staged in this session could not be read and is gone. The workspace is as it was; ask for the changes again.";
  }

  /** The session's proposal, even if nothing is staged yet; undefined if staging is impossible. */
  static async of(session: Session): Promise<SessionProposal | undefined> {
    const { stages } = session.services;
    if (stages === undefined || (await whyNotStaged(session)) !== undefined) return undefined;
    const known = opened.get(session) ?? new SessionProposal(session, stages);
    opened.set(session, known);
    return known;
  }

  /** The same where something is staged already. */
  static async needed(session: Session): Promise<SessionProposal> {
    const proposal = await SessionProposal.of(session);
    if (proposal === undefined) throw new Error("Nothing can be staged here.");
    return proposal;
  }

  /**
   * Call it before use: removes what a review refused, and merges with the current workspace. What the model must know of that
   * is in `takeNotes`.
   */
  renew(): Promise<void> {
    const renewing = this.#renewing.then(() => this.#renew());
    this.#renewing = renewing.catch(() => undefined);
    return renewing;
  }

  /** Whether exactly the staged changes were already proposed and await review. */
  get isProposed(): boolean {
    const { open, proposed, digest } = this.tree;
    // A server killed just before recording it has proposed nothing.
    return digest === proposed && this.#session.state.proposals.has(open.at(-1) ?? "");
  }

  /** Notes for the model, in brackets. */
  takeNotes(): readonly string[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  async #renew(): Promise<void> {
    const { tree } = this;
    if (tree.files.size === 0) {
      // Nothing is left that their review could concern.
      if (tree.open.length > 0) tree.replace([], { open: [], proposed: "" });
      return;
    }
    await settleReviews(tree, this.#session.state, this.#session.services.blobs);
    const { merged, conflicts } = await rebaseStagedTree(tree, (path) =>
      fileInWorkspace(this.#session.workspace, path),
    );
    if (merged.length > 0) {
      this.#notes.push(
        `[the user saved ${merged.join(", ")} meanwhile: what you staged was put on top of that. Read before you edit.]`,
      );
    }
    for (const path of conflicts) {
      this.#notes.push(
        tree.files.get(path)?.conflict === "unreadable"
          ? `[conflict: what the workspace has at ${path} by now cannot be read as a file. What you staged there is as it was, but nobody can keep it like this: tell the user.]`
          : `[conflict: the user saved ${path} meanwhile and changed the same as you. What you staged is as it was, but nobody can keep it like this: read ${path}, which shows both, and then write it anew.]`,
      );
    }
  }
}

const opened = new WeakMap<Session, SessionProposal>();

/**
 * The workspace's content at a path; undefined if there is no file. "unreadable" is different: otherwise a file that is staged
 * for deletion would count as deleted. Never rejects.
 */
export async function fileInWorkspace(
  workspace: Workspace,
  path: string,
): Promise<FileBytes | "unreadable" | undefined> {
  try {
    const resolved = await workspace.resolve(path, { isRecorded: true });
    // A link that was put on the way leads to another file.
    if (!resolved.inside || resolved.relative !== path) return "unreadable";
    const stat = await workspace.stat(resolved);
    if (stat === undefined) return undefined;
    if (stat.kind !== "file") return "unreadable";
    const { bytes } = await workspace.read(resolved, { maxBytes: maxStagedBytes });
    return { bytes, mode: stat.mode & 0o777 };
  } catch {
    return "unreadable";
  }
}
