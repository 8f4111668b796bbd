import type { Question } from "@gennai/governance/confirmation";
import type { ProposedChange } from "./proposal.ts";
import type { WorkspaceOperation } from "./workspace-operation.ts";

/** Something only a client can do. Durable before it is sent, answered once. */
export type ClientRequest = {
  readonly requestId: string;
  readonly ownerEpoch: number;
  /** Milliseconds since the epoch; 0 while no client that can answer is attached. */
  readonly deadline: number;
} & ClientRequestBody;

export type ClientRequestBody =
  | {
      readonly kind: "file-read";
      readonly path: string;
      readonly offset: number;
      readonly limit: number;
      readonly reason: string;
    }
  | {
      readonly kind: "command";
      readonly command: string;
      readonly cwd: string;
      readonly terminalName: string;
      readonly reveal?: boolean;
    }
  | { readonly kind: "confirmation"; readonly question: Question }
  | { readonly kind: "apply-changes"; readonly changeSetId: string; readonly changes: readonly ProposedChange[] }
  | { readonly kind: "model-call"; readonly requestJson: string }
  | { readonly kind: "diagnostics"; readonly paths: readonly string[] }
  /** `path`: of this file only; empty: of the whole workspace. */
  | { readonly kind: "find-symbols"; readonly query: string; readonly path: string }
  /** To the one client that holds the session's files. */
  | { readonly kind: "workspace"; readonly operation: WorkspaceOperation; readonly clientId: string };

export type RequestResolution = "answered" | "timeout" | "cancelled";
