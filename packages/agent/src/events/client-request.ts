import type { Question } from "@gennai/governance/confirmation";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import type { EditorRequestBody } from "@gennai/protocol/model/session/editor-messages";
import type { WorkspaceOperation } from "./workspace-operation.ts";

/** Something only a client can do. Durable before it is sent, answered once. */
export type ClientRequest = {
  readonly requestId: string;
  readonly ownerEpoch: number;
  /** Milliseconds since the epoch; 0 while no client that can answer is attached. */
  readonly deadline: number;
} & ClientRequestBody;

export type ClientRequestBody =
  | EditorRequestBody
  | { readonly kind: "confirmation"; readonly question: Question }
  /** Sent only to the client that holds the session's files. */
  | { readonly kind: "workspace"; readonly operation: WorkspaceOperation; readonly clientId: string };

/** The result of asking a person about a gate decision; anything but a clear yes is a no. */
export type ResolvedReply =
  | { readonly answer: "yes"; readonly scope: ConfirmationScope }
  | { readonly answer: "no" | "nobody" };

export type RequestResolution = "answered" | "timeout" | "cancelled";
