import { openLocalWorkspace } from "./local-workspace.ts";
import type { Workspace } from "./workspace.ts";

/**
 * The workspaces of this process: one object for each root, shared by the sessions of that tree. A directory that was deleted and
 * created again is another root: the old object refuses everything, and a new session gets a new object.
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
