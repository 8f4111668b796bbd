import { openLocalWorkspace } from "./local-workspace.ts";
import type { Workspace } from "./workspace.ts";

/**
 * The workspaces of this process: one object for each root, so that sessions of one tree share it. A directory that was
 * deleted and made anew is another root: its old object refuses everything, a new session gets a new one.
 */
export class WorkspaceRegistry {
  readonly #stateDir: string;
  readonly #byIdentity = new Map<string, Workspace>();

  constructor(stateDir: string) {
    this.#stateDir = stateDir;
  }

  /** Throws `WorkspaceError` for a directory that cannot be a workspace. */
  async open(directory: string): Promise<Workspace> {
    const opened = openLocalWorkspace(directory, { stateDir: this.#stateDir });
    const known = this.#byIdentity.get(opened.identity);
    if (known !== undefined) return known;
    this.#byIdentity.set(opened.identity, opened);
    return opened;
  }
}
