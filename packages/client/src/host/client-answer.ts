import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { ConfirmationRequest } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { WorkspaceRequest } from "@gennai/protocol/gen/gennai/agent/v1/workspace_pb";
import {
  type AnswerInit,
  answerRequest,
  asksEditor,
  failureToEvent,
  requestFromEvent,
} from "@gennai/protocol/model/session/editor-messages";
import type { CommandOptions, Editor } from "../connection/editor.ts";
import { confirmationQuestion, confirmationResponse, showsWhatItApproves } from "../questions/confirmation.ts";
import { answerWorkspaceRequest, type FetchContent, workspaceFailure } from "./client-workspace-answer.ts";

/** A request of the server, bound to the editor that answers it. */
export interface BoundRequest {
  readonly requestId: string;
  readonly ownerEpoch: bigint;
  /** Answering it twice does no harm. */
  readonly changesNothing?: boolean;
  /** Rejects only when the signal aborts: an editor that fails makes an answer that says so. */
  answer(options: CommandOptions): Promise<AnswerInit>;
}

/** The answering client, for requests to a single client and for fetched contents. */
export interface AnsweringClient {
  readonly clientId: string;
  readonly fetchContent: FetchContent;
}

/** undefined when the event asks nothing, or nothing that this editor can answer. */
export function bindRequest({ event }: InvokeEvent, editor: Editor, client: AnsweringClient): BoundRequest | undefined {
  if (event.case === "confirmationRequest") return bindConfirmation(event.value, editor);
  if (event.case === "workspaceRequest") return bindWorkspaceRequest(event.value, editor, client);
  if (!asksEditor(event)) return undefined;
  const request = requestFromEvent(event);
  const answer = answerRequest<CommandOptions>(editor, request);
  return answer && bound(request, answer, (error) => failureToEvent(request, error));
}

/** The request an event asks, no matter who can answer it. */
export function requestIdOf({ event }: InvokeEvent): string | undefined {
  if (event.case === "confirmationRequest" || event.case === "workspaceRequest") return event.value.requestId;
  return asksEditor(event) ? event.value.requestId : undefined;
}

function bindConfirmation(message: ConfirmationRequest, editor: Editor): BoundRequest | undefined {
  const confirm = editor.confirm?.bind(editor);
  if (confirm === undefined) return undefined;
  return bound(
    message,
    async (options) => {
      if (!showsWhatItApproves(message)) throw new Error("The digest of the question is not the digest of its action.");
      const reply = await confirm(confirmationQuestion(message), options);
      return { case: "confirmationResponse", value: confirmationResponse(message, reply) };
    },
    (reason) => ({ case: "confirmationResponse", value: confirmationResponse(message, { answer: "nobody", reason }) }),
  );
}

function bindWorkspaceRequest(
  message: WorkspaceRequest,
  { workspace }: Editor,
  { clientId, fetchContent }: AnsweringClient,
): BoundRequest | undefined {
  // Others of the session may hold other files, or the same: what changes something must happen once.
  if (workspace === undefined || message.clientId !== clientId) return undefined;
  const { requestId, ownerEpoch, operation } = message;
  return {
    requestId,
    ownerEpoch,
    changesNothing: operation.case !== "changeFiles" && operation.case !== "runProgram",
    async answer(options) {
      const result = await answerWorkspaceRequest(workspace, message, { ...options, fetchContent }).catch(
        (error: unknown) => {
          options.signal.throwIfAborted();
          return workspaceFailure(error);
        },
      );
      return { case: "workspaceResponse", value: { requestId, result } };
    },
  };
}

function bound(
  request: { readonly requestId: string; readonly ownerEpoch: bigint },
  ask: (options: CommandOptions) => Promise<AnswerInit>,
  failed: (message: string) => AnswerInit,
): BoundRequest {
  return {
    requestId: request.requestId,
    ownerEpoch: request.ownerEpoch,
    async answer(options) {
      try {
        return await ask(options);
      } catch (error) {
        options.signal.throwIfAborted();
        return failed(error instanceof Error && error.message !== "" ? error.message : "The editor failed.");
      }
    },
  };
}
