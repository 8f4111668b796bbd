import type { MountsAhead } from "@gennai/stage/mount/mounts-ahead";

/** Number of workspaces for which the next command's mounts are made ahead. */
const most = 8;

/** The mounts made ahead for the workspaces that ran commands last. */
export class RecentMounts implements AsyncDisposable {
  readonly #make: (workspaceRoot: string) => MountsAhead;
  /** In the order of their last commands. */
  readonly #byWorkspace = new Map<string, MountsAhead>();

  constructor(make: (workspaceRoot: string) => MountsAhead) {
    this.#make = make;
  }

  /** The mounts of a workspace that runs a command now. */
  of(workspaceRoot: string): MountsAhead {
    const mounts = this.#byWorkspace.get(workspaceRoot) ?? this.#make(workspaceRoot);
    this.#byWorkspace.delete(workspaceRoot);
    this.#byWorkspace.set(workspaceRoot, mounts);
    const [oldest] = this.#byWorkspace;
    if (this.#byWorkspace.size > most && oldest !== undefined) {
      this.#byWorkspace.delete(oldest[0]);
      // If it fails, its directories stay until the next start.
      oldest[1][Symbol.asyncDispose]().catch(() => undefined);
    }
    return mounts;
  }

  /** Undefined for a workspace without mounts. */
  known(workspaceRoot: string): MountsAhead | undefined {
    return this.#byWorkspace.get(workspaceRoot);
  }

  async forget(workspaceRoot: string): Promise<void> {
    const mounts = this.#byWorkspace.get(workspaceRoot);
    this.#byWorkspace.delete(workspaceRoot);
    await mounts?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#byWorkspace.values()].map((mounts) => mounts[Symbol.asyncDispose]()));
  }
}
