import { join, relative } from "node:path";
import type { CommandRun } from "@gennai/machine/process/run-command";
import { systemErrorCode } from "@gennai/machine/system-error";
import { isWithin } from "@gennai/protocol/is-within";
import type { Covered } from "./cover/covered-tree.ts";
import type { StagedCache } from "./layer/staged-caches.ts";
import type { MountKeeper } from "./mount/mount-keeper.ts";
import { dropMounts, type MountedRoots } from "./mount/mounted-roots.ts";
import { cleanUntouched, type LaidStage } from "./mount/spare-stage.ts";
import { closeGit } from "./observe/close-git.ts";
import type { Observation } from "./observe/effect.ts";
import type { LayerRules } from "./observe/layer-part.ts";
import type { LookLimits } from "./observe/look-budget.ts";
import { observe } from "./observe/observe.ts";
import type { ShellMachine } from "./sandbox/shell-sandbox.ts";
import { runOnStage, type StagedCommand } from "./staged-command.ts";
import { NotObservable } from "./transaction/stage-error.ts";
import { makeMarker, stageParts } from "./transaction/staged-root.ts";
import type { Transaction } from "./transaction/transaction.ts";

/**
 * Where one command runs without harm: overlays over the roots take what it writes. The roots stay unchanged until a commit. The
 * holder closes the stage, and then commits or removes the transaction.
 */
export class Stage {
  readonly transaction: Transaction;
  /** The marker's ctime of each root: anything not older there was changed by others. */
  readonly markers: readonly bigint[];
  readonly #covered: readonly Covered[];
  readonly #machine: ShellMachine;
  readonly #laid: LaidStage | undefined;
  #mounts: MountKeeper;
  #closed: () => void = () => undefined;

  private constructor(
    { transaction, covered, mounts, laid }: MountedRoots,
    options: { readonly machine: ShellMachine; readonly markers: readonly bigint[] },
  ) {
    this.transaction = transaction;
    this.markers = options.markers;
    this.#covered = covered;
    this.#machine = options.machine;
    this.#mounts = mounts;
    this.#laid = laid;
  }

  /**
   * Call it right before the command: what others change from now on counts as changed meanwhile. Drops the mounts if it throws.
   * @param first the markers of an earlier run with whose changes this one goes on
   */
  static async on(mounted: MountedRoots, machine: ShellMachine, first?: readonly bigint[]): Promise<Stage> {
    try {
      const markers = first ?? mounted.mounts.markers ?? mounted.transaction.roots.map(makeMarker);
      return new Stage(mounted, { machine, markers });
    } catch (error) {
      await dropMounts(mounted);
      throw error;
    }
  }

  /** Resolves when every process of the command is gone. Rejects with `CommandNotStarted`. */
  run(
    command: StagedCommand,
    options: { readonly signal: AbortSignal; readonly onOutput?: (text: string) => void },
  ): Promise<CommandRun> {
    const { roots } = this.transaction;
    return this.#asLeft(() => runOnStage(command, { roots, mounts: this.#mounts, machine: this.#machine }, options));
  }

  /** Whether the user signs commits; no command can. */
  async userSigns(): Promise<boolean> {
    const [root] = this.transaction.roots;
    return root !== undefined && (await this.#machine.gitConfiguration(root.path)).signs;
  }

  /**
   * What the command did. Throws `NotObservable`, also if the system denies a look at something; then nothing can be kept.
   * @param rules decide what of the work tree goes into the session's layer
   * @param options.mayBeHeld processes remain to which the command could have passed open files: waits until none has any open
   */
  async observe(
    rules?: LayerRules,
    { mayBeHeld = false, limits }: { readonly mayBeHeld?: boolean; readonly limits?: LookLimits } = {},
  ): Promise<Observation> {
    this.#refuseGone();
    if (mayBeHeld && this.#mounts.again !== undefined) this.#mounts = await this.#mounts.again();
    const observation = await this.#look(rules, limits);
    // Checked again: without the mounts, everything that the command left alone would look removed.
    this.#refuseGone();
    return observation;
  }

  async #look(rules: LayerRules | undefined, limits: LookLimits | undefined): Promise<Observation> {
    try {
      await this.#closeGits();
      await this.#mounts.settle();
      return await observe(
        this.transaction.roots.map((root, index) => {
          const covered = this.#covered[index] ?? { hidden: [], copies: new Map() };
          const looked = { ...root, covered, marker: this.markers[index] ?? 0n, view: this.#mounts.view(root) };
          return index === 0 && rules !== undefined ? Object.assign(looked, { rules }) : looked;
        }),
        limits,
      );
    } catch (cause) {
      const code = systemErrorCode(cause);
      if (code === undefined) throw cause;
      // The message has no path, which the command chose and which can be thousands of characters long.
      throw new NotObservable(`A file that the command left cannot be read (${code}).`, { cause });
    }
  }

  async #closeGits(): Promise<void> {
    if (this.#mounts.readOnly !== undefined) return;
    for (const root of this.transaction.roots) {
      const merged = this.#mounts.merged(root);
      // Copies are compared later.
      const written = this.isOverlaid ? join(root.directory, stageParts.upper) : merged;
      await closeGit({ path: root.path, merged, written, wrote: this.#mounts.wrote?.bind(undefined, root) });
    }
  }

  #refuseGone(): void {
    if (!this.#mounts.areThere()) throw new NotObservable("The command's copy of the files was removed while it ran.");
  }

  /** Runs work of this process in place of a command. @param work gets a path to what a command would see of the work tree */
  async change(work: (merged: string) => Promise<void>): Promise<void> {
    const [root] = this.transaction.roots;
    if (root !== undefined) await this.#asLeft(() => work(this.#mounts.merged(root)));
  }

  /** Runs work that sees the work tree as the command left it, also after it was observed. */
  #asLeft<Value>(work: () => Promise<Value>): Promise<Value> {
    const [root] = this.transaction.roots;
    return root === undefined || this.#mounts.asLeft === undefined ? work() : this.#mounts.asLeft(root, work);
  }

  /** Directory that runs of the workspace share as their `/tmp`. */
  get temporary(): string {
    return this.#machine.temporary;
  }

  /** Caches that the run writes to. */
  get caches(): readonly StagedCache[] {
    return this.#mounts.caches;
  }

  /**
   * Unmounts. Not for a command that could have passed open files to processes that remain.
   * @returns the directories, ready for another run, if this one left nothing in them; undefined if they must be removed
   */
  async closeForAnother(): Promise<LaidStage | undefined> {
    await this.close();
    if (this.#laid === undefined || this.#mounts.readOnly !== undefined) return this.#laid;
    return (await cleanUntouched(this.#laid, this.markers)) ? this.#laid : undefined;
  }

  /** Unmounts. What the command wrote stays until the transaction is committed or removed. */
  async close(): Promise<void> {
    await this.#mounts.close();
    this.#closed();
  }

  /** @param closed is called when it was unmounted */
  onClosed(closed: () => void): void {
    this.#closed = closed;
  }

  /** Whether what a run wrote is in layers of its own from the beginning. */
  get isOverlaid(): boolean {
    return this.#mounts.markers === undefined;
  }

  /** Whether another run can go on with what this one wrote. */
  get canStay(): boolean {
    return this.isOverlaid || this.#mounts.stay !== undefined;
  }

  /** Makes ready for that. */
  async stay(): Promise<void> {
    await this.#mounts.stay?.();
  }

  /** Program and arguments by which a program of ours starts where the roots are mounted, in the same directory. */
  get entering(): readonly string[] {
    const { joinArguments } = this.#mounts;
    return joinArguments.length === 0 ? [] : [...joinArguments.slice(0, -1), "--wd=.", "--"];
  }

  /** Path by which this process reaches what the command sees at a path. @param path in a root, absolute */
  seen(path: string): string {
    const root = this.transaction.roots.find((one) => isWithin(path, { directory: one.path }));
    return root === undefined ? path : join(this.#mounts.merged(root), relative(root.path, path));
  }
}
