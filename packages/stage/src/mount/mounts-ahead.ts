import type { CoveredRoot } from "../cover/covered-roots.ts";
import { StageUnavailable } from "../transaction/stage-error.ts";
import { removeTransaction } from "../transaction/transaction.ts";
import {
  type CachesOfRun,
  dropMounts,
  keyOf,
  type MountedRoots,
  type MountOptions,
  mountCaches,
  mountRoots,
} from "./mounted-roots.ts";
import type { SessionNetwork } from "./session-network.ts";
import type { LaidStage } from "./spare-stage.ts";

/** A run may end while the mounts for the next two are being made, and commands that only read have their own. */
const maxSpares = 3;

/**
 * Makes the mounts for the next command of a workspace ahead. Nothing is looked up in them before that command, which therefore
 * sees the user's latest changes; mounts already used would show cached content. They are not used if something else must be
 * hidden by now, or if a directory was replaced. The directories of a run that left nothing in them are mounted again.
 */
export class MountsAhead implements AsyncDisposable {
  readonly #stateDir: string;
  readonly #caches: readonly string[];
  #ready: { readonly key: string; readonly mounted: Promise<MountedRoots | undefined> } | undefined;
  readonly #spares: LaidStage[] = [];

  /**
   * @param stateDir private, real path
   * @param caches of package managers, over which commands may write
   */
  constructor(stateDir: string, caches: readonly string[] = []) {
    this.#stateDir = stateDir;
    this.#caches = caches;
  }

  /** Starts to make the mounts, unless fitting ones exist. Call it when the last command's changes were kept or dropped. */
  prepare(roots: readonly CoveredRoot[], network?: SessionNetwork): void {
    const key = keyIn(roots, network);
    const before = this.#ready;
    if (before?.key === key) return;
    // A failure is not reported here: `take` mounts again, and throws it.
    const mounted = drop(before?.mounted)
      .then(() => this.#mount(roots, network, { none: true }))
      .catch(() => undefined);
    this.#ready = { key, mounted };
  }

  /** The mounts that are ready, or new ones. The caller closes and removes them. Throws `StageUnavailable`. */
  async take(roots: readonly CoveredRoot[], network?: SessionNetwork, caches: CachesOfRun = {}): Promise<MountedRoots> {
    // Such a run is rare: the ready mounts stay for the run after it.
    if (caches.all === true || caches.more !== undefined) {
      return mountRoots(this.#stateDir, roots, network, this.#caches, caches);
    }
    const ready = this.#ready;
    this.#ready = undefined;
    const mounted = await ready?.mounted;
    const isOwn = mounted?.laid?.caches.every(({ kept }) => kept === undefined) === true;
    const fits = ready?.key === keyIn(roots, network) && (caches.own !== true || isOwn);
    if (mounted !== undefined && fits && (await withCaches(mounted, caches))) {
      // The hidden paths are the same, but `covered` also knows which entries exist now.
      return { ...mounted, covered: roots.map(({ covered }) => covered) };
    }
    await drop(ready?.mounted);
    return this.#mount(roots, network, caches);
  }

  /** The roots for a command that only reads: nothing is mounted ahead for it. */
  themselves(roots: readonly CoveredRoot[], network?: SessionNetwork): Promise<MountedRoots> {
    return this.#mount(roots, network, { stagedBy: "itself" });
  }

  /** Keeps the directories of a run that left nothing in them, for a later run. */
  async keep(spare: LaidStage): Promise<void> {
    this.#spares.push(spare);
    const oldest = this.#spares.length > maxSpares ? this.#spares.shift() : undefined;
    if (oldest !== undefined) await removeTransaction(oldest.transaction);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ready = this.#ready;
    this.#ready = undefined;
    await drop(ready?.mounted);
    for (const { transaction } of this.#spares.splice(0)) await removeTransaction(transaction);
  }

  #mount(roots: readonly CoveredRoot[], network?: SessionNetwork, options: MountOptions = {}): Promise<MountedRoots> {
    return mountRoots(this.#stateDir, roots, network, this.#caches, { ...options, spares: this.#spares });
  }
}

/** @returns whether the mounts exist, with the caches that the run needs: a directory may have been removed meanwhile */
async function withCaches(mounted: MountedRoots, caches: CachesOfRun): Promise<boolean> {
  try {
    await mountCaches(mounted, caches);
    return mounted.mounts.areThere();
  } catch (error) {
    if (error instanceof StageUnavailable) return false;
    throw error;
  }
}

async function drop(ready: Promise<MountedRoots | undefined> | undefined): Promise<void> {
  const mounted = await ready;
  if (mounted !== undefined) await dropMounts(mounted);
}

/** The key of mounts in one network. */
function keyIn(roots: readonly CoveredRoot[], network: SessionNetwork | undefined): string {
  return JSON.stringify([network?.id, keyOf(roots)]);
}
