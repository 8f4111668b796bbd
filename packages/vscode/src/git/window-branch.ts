import type { BranchOutcome, GitBranchMode, PrepareOptions } from "./git-branch-mode.ts";

export interface WindowBranchOptions {
  readonly mode: Pick<GitBranchMode, "prepare" | "currentBranch" | "watchBranch">;
  /** Called with the branch whenever it changes; empty: unknown. */
  readonly show: (branch: string) => void;
  readonly onProblem: (error: unknown) => void;
}

/** Branch Mode for this window's folder, with the branch shown from the first look on. */
export class WindowBranch implements Disposable {
  readonly #options: WindowBranchOptions;
  #watching: Disposable | undefined;

  constructor(options: WindowBranchOptions) {
    this.#options = options;
  }

  currentBranch(): Promise<string | undefined> {
    return this.#options.mode.currentBranch();
  }

  /** See `GitBranchMode.prepare`. */
  async prepare(task: string, options: PrepareOptions = {}): Promise<BranchOutcome> {
    const outcome = await this.#options.mode.prepare(task, options);
    // There may have been no repository before.
    void this.watch();
    return outcome;
  }

  /** Shows the branch from now on. Never rejects. */
  async watch(): Promise<void> {
    const { mode, show, onProblem } = this.#options;
    try {
      const watching = await mode.watchBranch((branch) => show(branch ?? ""));
      this.#watching?.[Symbol.dispose]();
      this.#watching = watching;
    } catch (error) {
      onProblem(error);
    }
  }

  [Symbol.dispose](): void {
    this.#watching?.[Symbol.dispose]();
  }
}
