import type { Event, Uri } from "vscode";

/** The part that we use of the editor's built-in Git extension, its API version 1. */
export interface GitExtensionExports {
  readonly enabled: boolean;
  /** Throws if git is disabled or not found. */
  getAPI(version: 1): GitExtensionApi;
}

export interface GitExtensionApi {
  /** The program. */
  readonly git: { readonly path: string };
  readonly state: "uninitialized" | "initialized";
  readonly onDidChangeState: Event<"uninitialized" | "initialized">;
  getRepository(uri: Uri): GitExtensionRepository | null;
  openRepository(root: Uri): Promise<GitExtensionRepository | null>;
  init(root: Uri, options?: { readonly defaultBranch?: string }): Promise<GitExtensionRepository | null>;
}

export interface GitExtensionRepository {
  readonly rootUri: Uri;
  readonly inputBox: { value: string };
  readonly state: {
    /** `name` is missing on a detached HEAD, `commit` before the first commit. */
    readonly HEAD: { readonly name?: string; readonly commit?: string } | undefined;
    readonly mergeChanges: readonly GitExtensionChange[];
    readonly indexChanges: readonly GitExtensionChange[];
    readonly workingTreeChanges: readonly GitExtensionChange[];
    readonly untrackedChanges?: readonly GitExtensionChange[];
    readonly onDidChange: Event<void>;
  };
  status(): Promise<void>;
  getCommit(ref: string): Promise<{ readonly commitDate?: Date }>;
  getBranches(query: { readonly remote: false }): Promise<readonly { readonly name?: string }[]>;
  createBranch(name: string, checkout: boolean): Promise<void>;
  checkout(treeish: string): Promise<void>;
}

interface GitExtensionChange {
  readonly uri: Uri;
}
