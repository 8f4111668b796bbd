import type { Workspace } from "@gennai/machine/workspace/workspace";
import { WorkspaceCheckpoints } from "./workspace-checkpoints.ts";

/** The checkpoints of every workspace, shared by its sessions. Disposing ends work that is under way. */
export class CheckpointRegistry implements AsyncDisposable {
  readonly #stateDir: string;
  readonly #open = new Map<string, WorkspaceCheckpoints>();

  constructor(options: { readonly stateDir: string }) {
    this.#stateDir = options.stateDir;
  }

  of({ root }: Pick<Workspace, "root">): WorkspaceCheckpoints {
    const known = this.#open.get(root);
    if (known !== undefined) return known;
    const opened = new WorkspaceCheckpoints({ stateDir: this.#stateDir, root });
    this.#open.set(root, opened);
    return opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#open.values()].map((each) => each[Symbol.asyncDispose]()));
  }
}
