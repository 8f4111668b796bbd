import type { WorkspaceOperation } from "@gennai/agent/events/workspace-operation";
import type { ToolFailure } from "@gennai/governance/tool-error";
import type { ClientRun, Listing, SearchResult } from "@gennai/machine/workspace/workspace";

/** What the client that holds a workspace answered: one type for each operation, or why nothing was done. */
export type WorkspaceAnswer =
  | { readonly type: "resolve"; readonly relative: string; readonly absolute: string; readonly inside: boolean }
  /** `kind` undefined: nothing is there. */
  | {
      readonly type: "stat";
      readonly kind: "file" | "directory" | "other" | undefined;
      readonly size: number;
      readonly mode: number;
    }
  | { readonly type: "read"; readonly bytes: Uint8Array; readonly sha256: string; readonly size: number }
  | ({ readonly type: "list" } & Listing)
  | { readonly type: "find"; readonly paths: readonly string[]; readonly truncated: boolean }
  | ({ readonly type: "search" } & SearchResult)
  | { readonly type: "change"; readonly files: readonly RewrittenFile[] }
  | { readonly type: "control"; readonly control: ControlSnapshot | "unchanged" }
  | ({ readonly type: "run" } & ClientRun)
  | { readonly type: "failure"; readonly failure: ToolFailure };

export interface RewrittenFile {
  /** Empty: there was no file. */
  readonly beforeSha256: string;
  /** Empty: the file is gone. */
  readonly afterSha256: string;
  readonly beforeMode: number | undefined;
  readonly madeDirectories: readonly string[];
}

/** What steers the agent in a workspace, as it was when the client read it. */
export interface ControlSnapshot {
  /** The client's own, for the next time. */
  readonly digest: string;
  readonly files: readonly ControlFile[];
  readonly git: ClientHead | undefined;
}

export interface ControlFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Why it cannot be used; empty when it can. */
  readonly problem: string;
}

export interface ClientHead {
  /** Empty on a detached HEAD. */
  readonly branch: string;
  /** Empty before the first commit. */
  readonly commit: string;
  /** Empty where it is not known. */
  readonly remoteDefault: string;
  /** Relative to the root, or absolute on the client's machine; empty: git's own. */
  readonly hooksPath: string;
}

export type AnswerTo<Type extends WorkspaceOperation["type"]> = Extract<WorkspaceAnswer, { readonly type: Type }>;

/** How a workspace reaches the client that holds it. */
export interface WorkspaceChannel {
  /**
   * Asks, and gives the answer to this operation. Throws `ToolFailure`: what the client said, or `workspace_unreachable`;
   * the signal's reason when it aborts.
   */
  ask<Type extends WorkspaceOperation["type"]>(
    operation: Extract<WorkspaceOperation, { readonly type: Type }>,
    options?: { readonly signal?: AbortSignal | undefined; readonly onOutput?: (text: string) => void },
  ): Promise<AnswerTo<Type>>;
}
