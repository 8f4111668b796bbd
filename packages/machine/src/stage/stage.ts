import { randomBytes } from "node:crypto";
import type { CommandRun } from "../process/run-command.ts";
import type { CoveredRoot } from "./covered-roots.ts";
import type { Covered } from "./covered-tree.ts";
import type { Observation } from "./effect.ts";
import { layMask } from "./lay-mask.ts";
import { keepMounts, type MountKeeper } from "./mount-keeper.ts";
import { observe } from "./observe.ts";
import { NotObservable } from "./stage-error.ts";
import { runOnStage, type StagedCommand, type StageMachine } from "./staged-command.ts";
import { makeMarker } from "./staging-place.ts";
import { makeTransaction, removeTransaction, type Transaction } from "./transaction.ts";

export interface StageOptions {
  readonly machine: StageMachine;
  /** Private, real path. */
  readonly stateDir: string;
  /** None within another: the work tree, and git's common directory where it lies elsewhere. */
  readonly roots: readonly CoveredRoot[];
}

/**
 * Where one command runs and can harm nothing: overlays over the roots take what it writes. Nothing of the roots changes
 * before a commit. The holder closes it, and then commits or removes the transaction.
 */
export class Stage {
  readonly transaction: Transaction;
  /** The marker's ctime of each root: what is not older there was changed by somebody else. */
  readonly markers: readonly bigint[];
  readonly #covered: readonly Covered[];
  readonly #machine: StageMachine;
  readonly #mounts: MountKeeper;

  private constructor(
    transaction: Transaction,
    mounts: MountKeeper,
    options: StageOptions & { readonly markers: readonly bigint[] },
  ) {
    this.transaction = transaction;
    this.markers = options.markers;
    this.#covered = options.roots.map(({ covered }) => covered);
    this.#machine = options.machine;
    this.#mounts = mounts;
  }

  /** Throws `StageUnavailable`, and leaves nothing behind then. */
  static async open(options: StageOptions): Promise<Stage> {
    const transaction = await makeTransaction(
      options.stateDir,
      options.roots.map(({ root }) => root),
    );
    try {
      for (const [index, root] of transaction.roots.entries()) {
        await layMask(root, options.roots[index]?.covered ?? { hidden: [], copies: new Map() });
      }
      const markers = transaction.roots.map(makeMarker);
      const mounts = await keepMounts(transaction.roots, `gennai-stage-${randomBytes(8).toString("hex")}`);
      return new Stage(transaction, mounts, { ...options, markers });
    } catch (error) {
      await removeTransaction(transaction);
      throw error;
    }
  }

  /** Resolves when every process of the command is gone. Rejects with `CommandNotStarted`. */
  run(
    command: StagedCommand,
    options: { readonly signal: AbortSignal; readonly onOutput?: (text: string) => void },
  ): Promise<CommandRun> {
    const { roots } = this.transaction;
    return runOnStage(command, { roots, mounts: this.#mounts, machine: this.#machine }, options);
  }

  /** What it did. Throws `NotObservable`, and system errors for what cannot be looked at; nothing can be kept then. */
  async observe(): Promise<Observation> {
    const observation = await observe(
      this.transaction.roots.map((root, index) => {
        const covered = this.#covered[index] ?? { hidden: [], copies: new Map() };
        return { ...root, covered, marker: this.markers[index] ?? 0n, merged: this.#mounts.merged(root) };
      }),
    );
    // Without them, all that the command left alone would look removed.
    if (!this.#mounts.areThere()) throw new NotObservable("What the command saw was unmounted meanwhile.");
    return observation;
  }

  /** Unmounts. What the command wrote stays until the transaction is committed or removed. */
  async close(): Promise<void> {
    await this.#mounts.close();
  }
}
