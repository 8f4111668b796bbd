import type { SessionEvent } from "@gennai/agent/events/session-event";
import { prepareBranch, wantedBranch } from "@gennai/git/prepare-branch";
import type { Confirmer } from "@gennai/governance/confirmation";
import { type BranchOffer, branchRule, isBarred } from "@gennai/governance/policies/branch";
import { ToolFailure } from "@gennai/governance/tool-error";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import { ServiceError } from "@gennai/machine/service-error";
import { branchNameFor } from "@gennai/protocol/branch-name";
import { beginRepository } from "../manager/first-session-commit.ts";
import { branchState } from "../policies/own-branch.ts";
import type { Session } from "../session/session.ts";

export interface TurnBranchOptions {
  /** What the branch is for; names it. */
  readonly task: string;
  /** A person is asked before. */
  readonly asks: boolean;
}

/** Begins a branch for the agent just before the first write of a turn, so that reading moves nobody anywhere. */
export class TurnBranch {
  readonly offer: BranchOffer;
  readonly #session: Session;
  readonly #task: string;
  /** A person said yes to it. */
  #isWanted = false;

  private constructor(session: Session, task: string, offer: Omit<BranchOffer, "isDeclined">) {
    this.#session = session;
    this.#task = task;
    this.offer = {
      ...offer,
      get isDeclined() {
        return session.state.onlyLooks;
      },
    };
  }

  /** Undefined where no branch can begin: the rules say why when something is to be written. */
  static async of(
    session: Session,
    { task, asks }: TurnBranchOptions,
    signal: AbortSignal,
  ): Promise<TurnBranch | undefined> {
    const { workspace, settings, services } = session;
    if (workspace.client !== undefined || (asks && !settings.interactive)) return undefined;
    try {
      const protect = await services.protectedBranches();
      const { name, how } = await wantedBranch({ directory: workspace.root, task, protect, signal });
      const wanted = how === "kept" ? branchNameFor(task) : name;
      return new TurnBranch(session, task, { name: wanted, asks, makesRepository: false });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      // Nobody agreed ahead to a repository.
      if (error.reason !== "no_repository" || !asks) return undefined;
      return new TurnBranch(session, task, { name: branchNameFor(task), asks, makesRepository: true });
    }
  }

  /** Who asks a person. */
  asking(confirmer: Confirmer): Confirmer {
    return {
      ask: async (question, options) => {
        const answer = await confirmer.ask(question, options);
        if (question.computed.rule === branchRule) this.#isWanted ||= answer.type === "yes";
        return answer;
      },
    };
  }

  /**
   * Resolves when HEAD is where something may be written, with what is to be told if it moved. Throws `ToolFailure`; then the
   * branch is unchanged.
   */
  async begin(signal: AbortSignal): Promise<SessionEvent | undefined> {
    const { workspace, services } = this.#session;
    const { root, controlRoot } = workspace;
    const protect = await services.protectedBranches();
    const protectedBranches = [...protect, ...(await loadProjectConfig(root)).protectedBranches];
    const state = branchState({ controlRoot, sessionBranch: undefined, protectedBranches });
    const isMissing = state.type === "none" && this.offer.makesRepository && this.#isWanted;
    if (!isBarred(state) && !isMissing) return undefined;
    try {
      if (isMissing) await beginRepository(this.#session, signal);
      const { name, how, before } = await prepareBranch({ directory: root, task: this.#task, protect, signal });
      if (how === "kept") return undefined;
      return { type: "branch-changed", branch: name, how, ...(before === undefined ? {} : { before }) };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      throw new ToolFailure("no_branch", `Nothing was written: ${error.message}`, {
        failureClass: "permission_denied",
        hint: error.hint,
      });
    }
  }
}
