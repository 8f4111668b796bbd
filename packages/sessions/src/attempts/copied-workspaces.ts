/** Records which directories are copies of a workspace, so that a user's answers for the workspace also apply there. */
export class CopiedWorkspaces {
  readonly #originals = new Map<string, string>();

  /** @param directories real paths. @returns a callback that unregisters them */
  add(directories: readonly string[], original: string): () => void {
    for (const directory of directories) this.#originals.set(directory, original);
    return () => {
      for (const directory of directories) this.#originals.delete(directory);
    };
  }

  /** The workspace that this is a copy of; the argument itself if it is no copy. */
  originalOf(workspace: string): string {
    return this.#originals.get(workspace) ?? workspace;
  }
}
