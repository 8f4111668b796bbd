import type { WorkspaceOperation } from "@gennai/agent/events/workspace-operation";
import type { ToolFailure } from "@gennai/governance/tool-error";
import type { ClientRun, Listing, SearchResult } from "@gennai/machine/workspace/workspace";
import type { ClientControl, ClientPath } from "@gennai/protocol/model/session/client-workspace";

/** The answer of the client that holds the workspace: one type for each operation, or the reason why nothing was done. */
export type WorkspaceAnswer =
  | ({ readonly type: "resolve" } & ClientPath)
  /** `kind` undefined: nothing exists at the path. */
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

/** The files that steer the agent in a workspace, as the client last read them. */
export interface ControlSnapshot extends ClientControl {
  /** The client's digest, to send with the next request. */
  readonly digest: string;
}

export type AnswerTo<Type extends WorkspaceOperation["type"]> = Extract<WorkspaceAnswer, { readonly type: Type }>;

/** Requests from a workspace to the client that holds it. */
export interface WorkspaceChannel {
  /**
   * Sends the operation and returns its answer. Throws `ToolFailure`: the client's error, or `workspace_unreachable`; throws
   * the signal's reason on abort.
   */
  ask<Type extends WorkspaceOperation["type"]>(
    operation: Extract<WorkspaceOperation, { readonly type: Type }>,
    options?: { readonly signal?: AbortSignal | undefined; readonly onOutput?: (text: string) => void },
  ): Promise<AnswerTo<Type>>;
}
