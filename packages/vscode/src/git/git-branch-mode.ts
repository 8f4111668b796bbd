import { branchNameFor } from "@gennai/protocol/branch-name";
import { afterRefusedSwitch } from "@gennai/protocol/refused-switch";
import { EditorError, reasonOf } from "../editor/editor-error.ts";
import type { EditorFiles } from "../editor/files/editor-files.ts";
import { type BranchChoice, type BranchQuestion, branchQuestion, type OfferedChoice } from "./branch-choices.ts";
import type { Git, GitFinding, GitRepository } from "./git-port.ts";

/** Where the session works from now on. */
export type BranchOutcome =
  | { readonly type: "branch"; readonly name: string; readonly how: "kept" | "created" | "switched" }
  | { readonly type: "proposal" }
  /** On the present branch, without writing anything. */
  | { readonly type: "look" }
  /** The folder stays on its branch. */
  | { readonly type: "cancelled" };

export interface GitBranchModeOptions {
  readonly git: Git;
  /** The session's folder, absolute. */
  readonly workspace: string;
  /** Shows the choices; undefined if the user chose none. */
  readonly ask: (question: BranchQuestion) => Promise<OfferedChoice | undefined>;
  readonly openScm: () => Promise<void>;
  readonly openFolder: () => Promise<void>;
  readonly files: Pick<EditorFiles, "isWritable">;
}

export interface PrepareOptions {
  readonly protectedBy?: string | undefined;
}

/** Branch Mode: finds the folder's present branch, and lets the user choose the branch that the agent works on. */
export class GitBranchMode {
  readonly #options: GitBranchModeOptions;

  constructor(options: GitBranchModeOptions) {
    this.#options = options;
  }

  /**
   * Asks the user and carries out the choice. Rejects with `EditorError` (`branch_failed`, `dirty_tree`); then the repository is
   * unchanged.
   * @param task what the user wants; names the branch
   * @param options.protectedBy what protects the current branch, according to the server
   */
  async prepare(task: string, options: PrepareOptions = {}): Promise<BranchOutcome> {
    const { git, workspace, ask, openScm, openFolder, files } = this.#options;
    const wanted = branchNameFor(task);
    const finding = await git.find(workspace);
    const situation = (await files.isWritable(workspace))
      ? await situationOf(finding, wanted, options.protectedBy)
      : { type: "read-only" as const };
    const chosen = await ask(branchQuestion(situation, wanted));
    if (chosen === undefined) return { type: "cancelled" };
    switch (chosen.choice.type) {
      case "proposal":
        return { type: "proposal" };
      case "look":
        return { type: "look" };
      case "open-scm":
      case "open-folder":
        await (chosen.choice.type === "open-scm" ? openScm() : openFolder());
        return { type: "cancelled" };
      case "stay":
        return { type: "branch", name: chosen.choice.branch, how: "kept" };
      case "init":
        return this.#init(chosen.choice.branch);
      default:
        if (finding.type !== "repository") return { type: "cancelled" };
        return move(finding.repository, chosen.choice);
    }
  }

  /** The branch the folder is on; undefined without git, a repository or a branch. */
  async currentBranch(): Promise<string | undefined> {
    const finding = await this.#options.git.find(this.#options.workspace);
    return finding.type === "repository" ? (await finding.repository.state()).branch : undefined;
  }

  /** Calls back with the branch, at once and whenever it changes; undefined without a repository. */
  async watchBranch(listener: (branch: string | undefined) => void): Promise<Disposable | undefined> {
    const finding = await this.#options.git.find(this.#options.workspace);
    if (finding.type !== "repository") return undefined;
    const { repository } = finding;
    let known = repository.branch;
    listener(known);
    return repository.onChange(() => {
      if (repository.branch === known) return;
      known = repository.branch;
      listener(known);
    });
  }

  async #init(branch: string): Promise<BranchOutcome> {
    const repository = await this.#options.git.init(this.#options.workspace).catch((cause: unknown) => {
      throw new EditorError("branch_failed", `git init failed: ${reasonOf(cause)}`, "Use Proposal Mode.", { cause });
    });
    return move(repository, { type: "create", branch });
  }
}

async function situationOf(finding: GitFinding, wanted: string, protectedBy: string | undefined) {
  if (finding.type !== "repository") return finding;
  const { repository } = finding;
  const [state, wantedExists] = await Promise.all([repository.state(), repository.hasBranch(wanted)]);
  return { type: "repository" as const, state, wantedExists, protectedBy };
}

async function move(
  repository: GitRepository,
  { type, branch }: Extract<BranchChoice, { readonly branch: string }>,
): Promise<BranchOutcome> {
  const before = await repository.state();
  if (before.branch === branch) return { type: "branch", name: branch, how: "kept" };
  try {
    if (type === "switch") await repository.switchTo(branch);
    else await repository.createBranch(branch);
  } catch (cause) {
    const said = reasonOf(cause);
    const what = `git could not ${type === "switch" ? "switch to" : "create"} ${branch}: ${said}`;
    const code = /overwritten by checkout/.test(said) ? "dirty_tree" : "branch_failed";
    throw new EditorError(code, what, afterRefusedSwitch(said), { cause });
  }
  const after = await repository.state();
  if (after.branch === branch) return { type: "branch", name: branch, how: type === "switch" ? "switched" : "created" };
  throw new EditorError(
    "branch_failed",
    `The folder is on ${after.branch ?? "no branch"} instead of ${branch}.`,
    "Try again.",
  );
}
