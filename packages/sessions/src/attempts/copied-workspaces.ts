/** Which directories are copies of a workspace, so that what a person answered for it holds in them. */
export class CopiedWorkspaces {
  readonly #originals = new Map<string, string>();

  /** @param directories real paths. @returns how to say that they are gone */
  add(directories: readonly string[], original: string): () => void {
    for (const directory of directories) this.#originals.set(directory, original);
    return () => {
      for (const directory of directories) this.#originals.delete(directory);
    };
  }

  /** The workspace of which this is a copy; itself, if it is not a copy. */
  originalOf(workspace: string): string {
    return this.#originals.get(workspace) ?? workspace;
  }
}
