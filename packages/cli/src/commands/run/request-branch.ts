import type { AgentSession } from "@gennai/client/session/agent-session";
import type { AgentBranch } from "@gennai/git/prepare-branch";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";
import { prepareAgentBranch, presentBranch } from "../../client/agent-branch.ts";
import { offerFirstCommit } from "./offer-first-commit.ts";
import type { RunFlags } from "./run-options.ts";

interface BranchOptions {
  readonly workspace: string;
  readonly flags: Pick<RunFlags, "branch" | "protect">;
  /** The server reaches the files only through this command. */
  readonly isHeld: boolean;
  /** A person can be asked. */
  readonly asks: boolean;
}

/** Sees to the branch of requests, as far as no server can do it when something is written. */
export class RequestBranch {
  readonly #options: BranchOptions;
  /** The first commit is offered in the session, before its branch leaves the one without a commit. */
  readonly offersFirst: boolean;
  #isOffered = false;

  constructor(options: BranchOptions) {
    this.#options = options;
    this.offersFirst = options.asks && !options.isHeld && hasNoCommit(options.workspace);
  }

  /** @param at where a first commit is offered, once. @returns the branch that is worked on, as far as it is known. Throws `CliError` */
  async prepare(
    request: string,
    mode: EditingMode | "plan" | undefined,
    at?: { readonly session: AgentSession; readonly place: Parameters<typeof offerFirstCommit>[1] },
  ): Promise<AgentBranch | undefined> {
    if (mode === "proposal") return undefined;
    if (at !== undefined && this.offersFirst && !this.#isOffered) {
      this.#isOffered = true;
      await offerFirstCommit(at.session, at.place);
    }
    const { workspace, flags, isHeld } = this.#options;
    const { branch, protect = [] } = flags;
    const wanted = { workspace, request, protect, signal: new AbortController().signal };
    if (branch !== undefined) return prepareAgentBranch({ ...wanted, branch });
    // A server elsewhere cannot begin one here, and a plan is bound to its branch.
    return isHeld || mode === "plan" ? prepareAgentBranch(wanted) : presentBranch(wanted);
  }
}

function hasNoCommit(directory: string): boolean {
  const head = readGitHead(directory);
  return head.type === "branch" && head.commit === undefined;
}
