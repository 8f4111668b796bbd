import { getWorkspaceState, prepareBranch, type WorkspaceState } from "@gennai/client/session/workspace-state";
import { branchNameFor } from "@gennai/protocol/branch-name";
import { type ReadonlySignal, signal } from "@preact/signals";
import { type Failure, failureOf } from "../../look/failure.ts";
import type { FollowedSession } from "./followed-session.ts";

/** - `look`: stays on the present branch, where the server lets nothing be written */
export type BranchAnswer = "create" | "proposal" | "look";

/** What a person decides before the agent may write. */
export interface BranchQuestion {
  /** Why the agent does not write on the workspace's present branch. */
  readonly situation: string;
  /** `ai-agent/…`; undefined where git is not ready for a branch. */
  readonly wanted: string | undefined;
  /** Number of files that are not committed: they are carried over to the new branch. */
  readonly changedFiles: number;
  /** What the server answered to the last try. */
  readonly refusal: Failure | undefined;
}

interface Task {
  /** What the user asked for; names the branch. */
  readonly task: string;
  readonly signal: AbortSignal;
}

/**
 * The branch of a plan, which is bound to the one it is approved on: it is asked about before. For all else the server asks with
 * the first write of a turn.
 */
export class BranchStore {
  readonly #question = signal<BranchQuestion | undefined>(undefined);
  readonly #busy = signal(false);
  readonly #useProposals: () => Promise<boolean>;
  #answer: ((answer: BranchAnswer) => void) | undefined;

  /** @param useProposals switches the session to Proposal Mode; false when the server would not */
  constructor(useProposals: () => Promise<boolean>) {
    this.#useProposals = useProposals;
  }

  get question(): ReadonlySignal<BranchQuestion | undefined> {
    return this.#question;
  }

  /** True while an answer is carried out. */
  get busy(): ReadonlySignal<boolean> {
    return this.#busy;
  }

  answer(answer: BranchAnswer): void {
    this.#answer?.(answer);
  }

  /** Resolves when a plan may be written. Rejects with `ConnectError`, or with the signal's reason if the person gives up. */
  async ready(followed: FollowedSession, { task, signal }: Task): Promise<void> {
    const { session, settings } = followed;
    const { client, sessionId } = session;
    const inBranchMode = () => settings.value.editingMode === "branch";
    if (!inBranchMode()) return;
    const state = await getWorkspaceState(client, { sessionId, signal });
    const prepare = () => prepareBranch(client, { sessionId, task, signal });
    if (isFree(state)) return;
    const wanted = state.git === "ready" ? branchNameFor(task) : undefined;
    // If git is missing, the server says best what to do.
    let refusal = wanted === undefined ? await failureIn(prepare, signal) : undefined;
    const { changedFiles } = state;
    const situation = situationOf(state);
    try {
      while (inBranchMode() && (wanted !== undefined || refusal !== undefined)) {
        const answer = await this.#ask({ situation, wanted, changedFiles, refusal }, signal);
        this.#busy.value = true;
        if (answer === "look" || (answer === "proposal" && (await this.#useProposals()))) break;
        if (answer !== "create") continue;
        refusal = await failureIn(prepare, signal);
        if (refusal === undefined) break;
      }
    } finally {
      this.#question.value = undefined;
      this.#busy.value = false;
    }
  }

  async #ask(question: BranchQuestion, signal: AbortSignal): Promise<BranchAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<BranchAnswer>();
    const abort = () => reject(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener("abort", abort, { once: true });
    this.#answer = resolve;
    this.#busy.value = false;
    this.#question.value = question;
    try {
      return await promise;
    } finally {
      this.#answer = undefined;
      signal.removeEventListener("abort", abort);
    }
  }
}

function isFree({ git, branch, protectedBy }: WorkspaceState): boolean {
  return git === "ready" && branch !== undefined && protectedBy === undefined;
}

function situationOf({ git, branch }: WorkspaceState): string {
  if (git !== "ready") return "In Branch Mode the agent writes on a git branch of its own.";
  return branch === undefined
    ? "HEAD is on no branch, and the agent works on one of its own."
    : `You are on ${branch}, which is protected: the agent works on a branch of its own.`;
}

async function failureIn(work: () => Promise<unknown>, signal: AbortSignal): Promise<Failure | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return failureOf(error);
  }
}
