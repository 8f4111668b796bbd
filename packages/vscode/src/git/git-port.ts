/** Git as the editor offers it, as narrow as Branch Mode needs. */
export interface Git {
  /** The repository that holds a directory. */
  find(directory: string): Promise<GitFinding>;
  /** Makes a repository. Throws when git cannot. */
  init(directory: string): Promise<GitRepository>;
}

export type GitFinding =
  /** git is not installed, or turned off in the editor. */
  | { readonly type: "no-git"; readonly reason: string }
  | { readonly type: "no-repository" }
  | { readonly type: "repository"; readonly repository: GitRepository };

export interface GitRepository {
  /** The branch that the editor saw last; undefined on a detached HEAD. */
  readonly branch: string | undefined;
  /** Looks anew, which the editor reports as a change: never to be called because of one. */
  state(): Promise<RepositoryState>;
  hasBranch(name: string): Promise<boolean>;
  /** Throws when git refuses, and then nothing was changed. */
  createBranch(name: string): Promise<void>;
  /** Throws when git refuses, and then nothing was changed. */
  switchTo(name: string): Promise<void>;
  /** Calls back whenever the editor looked anew. */
  onChange(listener: () => void): Disposable;
}

export interface RepositoryState {
  /** undefined on a detached head. */
  readonly branch: string | undefined;
  /** Files that are not committed. */
  readonly changedFiles: number;
  /** Files of a merge that is not finished. */
  readonly conflicts: number;
}
