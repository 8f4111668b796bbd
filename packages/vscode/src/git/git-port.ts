/** The part of the editor's Git that Branch Mode needs. */
export interface Git {
  /** Finds the repository that contains a directory. */
  find(directory: string): Promise<GitFinding>;
  /** Makes a repository. Rejects if git fails. */
  init(directory: string): Promise<GitRepository>;
}

export type GitFinding =
  /** git is not installed, or turned off in the editor. */
  | { readonly type: "no-git"; readonly reason: string }
  | { readonly type: "no-repository" }
  | { readonly type: "repository"; readonly repository: GitRepository };

export interface GitRepository {
  /** The branch at the editor's last look; undefined on a detached HEAD. */
  readonly branch: string | undefined;
  /** Refreshes the state. The editor reports this as a change, so it must not be called because of a change. */
  state(): Promise<RepositoryState>;
  hasBranch(name: string): Promise<boolean>;
  /** Rejects if git refuses; then nothing was changed. */
  createBranch(name: string): Promise<void>;
  /** Rejects if git refuses; then nothing was changed. */
  switchTo(name: string): Promise<void>;
  /** Calls back whenever the editor has refreshed its state. */
  onChange(listener: () => void): Disposable;
}

export interface RepositoryState {
  /** undefined on a detached HEAD. */
  readonly branch: string | undefined;
  /** Number of files that are not committed. */
  readonly changedFiles: number;
  /** Number of files with conflicts of an unfinished merge. */
  readonly conflicts: number;
}
