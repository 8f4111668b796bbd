import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ClientEventSchema,
  CommandState,
  EndOfLine,
  FileSource,
} from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { DiagnosticSeverity, type InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import {
  answerWorkspaceRequest,
  type FetchContent,
  workspaceFailure,
} from "../held-workspace/held-workspace-answer.ts";
import { appliedFileFields, proposedChangeFromMessage } from "../review/proposal.ts";
import { confirmationQuestion, confirmationResponse, showsWhatItApproves } from "./confirmation.ts";
import type { CommandOptions, Diagnostic, Editor } from "./editor.ts";

export type ClientEventBody = NonNullable<MessageInitShape<typeof ClientEventSchema>["event"]>;

/** A request of the server, bound to the editor that answers it. */
export interface BoundRequest {
  readonly requestId: string;
  readonly ownerEpoch: bigint;
  /** Answering it twice does no harm. */
  readonly changesNothing?: boolean;
  /** Rejects only when the signal aborts: an editor that fails makes an answer that says so. */
  answer(options: CommandOptions): Promise<ClientEventBody>;
}

/** Who answers, for requests to one client alone and contents that are fetched. */
export interface AnsweringClient {
  readonly clientId: string;
  readonly fetchContent: FetchContent;
}

/** undefined when the event asks nothing, or nothing that this editor can answer. */
export function bindRequest(event: InvokeEvent, editor: Editor, client: AnsweringClient): BoundRequest | undefined {
  const request = event.event;
  switch (request.case) {
    case "requestFileRead": {
      if (editor.readFile === undefined) return undefined;
      const { requestId, path, offset, limit, reason } = request.value;
      return bound(
        request.value,
        async (options) => {
          const file = await editor.readFile?.({ path, offset, limit, reason }, options);
          if (file === undefined) throw new Error("The editor cannot read files.");
          return {
            case: "fileReadResponse",
            value: {
              ...{ requestId, path },
              content: file.content,
              encoding: file.encoding,
              source: file.source === "buffer" ? FileSource.BUFFER : FileSource.DISK,
              version: BigInt(file.version),
              dirty: file.dirty,
              sha256: file.sha256,
              diskSha256: file.diskSha256,
              eol: file.eol === "crlf" ? EndOfLine.CRLF : EndOfLine.LF,
              bom: file.bom,
              truncated: file.truncated,
              totalLines: file.totalLines,
            },
          };
        },
        (error) => ({ case: "fileReadResponse", value: { requestId, path, error } }),
      );
    }
    case "executeCommandRequest": {
      if (editor.runCommand === undefined) return undefined;
      const { requestId, command, cwd, terminalName, reveal } = request.value;
      return bound(
        request.value,
        async (options) => {
          const run = await editor.runCommand?.({ command, cwd, terminalName, reveal }, options);
          if (run === undefined) throw new Error("The editor cannot run commands.");
          return {
            case: "commandDispatchResponse",
            value: {
              requestId,
              status: "SENT",
              terminalId: run.terminalId,
              state: run.state === "exited" ? CommandState.EXITED : CommandState.UNOBSERVED,
              ...(run.exitCode === undefined ? {} : { exitCode: run.exitCode }),
              output: run.output,
              truncated: run.truncated,
            },
          };
        },
        (error) => ({ case: "commandDispatchResponse", value: { requestId, status: "ERROR", error } }),
      );
    }
    case "confirmationRequest": {
      if (editor.confirm === undefined) return undefined;
      const message = request.value;
      return bound(
        message,
        async (options) => {
          if (!showsWhatItApproves(message))
            throw new Error("The digest of the question is not the digest of its action.");
          const reply = await editor.confirm?.(confirmationQuestion(message), options);
          if (reply === undefined) throw new Error("The editor cannot ask.");
          return { case: "confirmationResponse", value: confirmationResponse(message, reply) };
        },
        (reason) => ({
          case: "confirmationResponse",
          value: confirmationResponse(message, { answer: "nobody", reason }),
        }),
      );
    }
    case "applyChangesRequest": {
      if (editor.applyChanges === undefined) return undefined;
      const { requestId, changeSetId } = request.value;
      const changes = request.value.changes.map(proposedChangeFromMessage);
      return bound(
        request.value,
        async (options) => {
          const files = (await editor.applyChanges?.({ changeSetId, changes }, options)) ?? [];
          return { case: "applyChangesResponse", value: { requestId, files: files.map(appliedFileFields) } };
        },
        (error) => ({ case: "applyChangesResponse", value: { requestId, error } }),
      );
    }
    case "modelCallRequest": {
      if (editor.callModel === undefined) return undefined;
      const { requestId, requestJson } = request.value;
      return bound(
        request.value,
        async (options) => {
          const eventsJson = (await editor.callModel?.(requestJson, options)) ?? "[]";
          return { case: "modelCallResponse", value: { requestId, eventsJson } };
        },
        (error) => ({ case: "modelCallResponse", value: { requestId, error } }),
      );
    }
    case "diagnosticsRequest": {
      if (editor.listDiagnostics === undefined) return undefined;
      const { requestId, paths } = request.value;
      return bound(
        request.value,
        async (options) => {
          const found = (await editor.listDiagnostics?.(paths, options)) ?? [];
          return { case: "diagnosticsResponse", value: { requestId, diagnostics: found.map(diagnosticFields) } };
        },
        (error) => ({ case: "diagnosticsResponse", value: { requestId, error } }),
      );
    }
    case "findSymbolsRequest": {
      if (editor.findSymbols === undefined) return undefined;
      const { requestId, query, path } = request.value;
      return bound(
        request.value,
        async (options) => {
          const found = await editor.findSymbols?.({ query, path }, options);
          const symbols = (found?.symbols ?? []).map((symbol) => ({ ...symbol }));
          return { case: "findSymbolsResponse", value: { requestId, symbols, truncated: found?.truncated ?? false } };
        },
        (error) => ({ case: "findSymbolsResponse", value: { requestId, error } }),
      );
    }
    case "workspaceRequest": {
      const { workspace } = editor;
      const { value } = request;
      // Others of the session may hold other files, or the same: what changes something must happen once.
      if (workspace === undefined || value.clientId !== client.clientId) return undefined;
      const { requestId } = value;
      return {
        ...{ requestId, ownerEpoch: value.ownerEpoch },
        changesNothing: value.operation.case !== "changeFiles" && value.operation.case !== "runProgram",
        async answer(options) {
          const { fetchContent } = client;
          const result = await answerWorkspaceRequest(workspace, value, { ...options, fetchContent }).catch(
            (error: unknown) => {
              options.signal.throwIfAborted();
              return workspaceFailure(error);
            },
          );
          return { case: "workspaceResponse", value: { requestId, result } };
        },
      };
    }
    default:
      return undefined;
  }
}

/** The request an event asks, whoever can answer it. */
export function requestIdOf(event: InvokeEvent): string | undefined {
  switch (event.event.case) {
    case "requestFileRead":
    case "executeCommandRequest":
    case "confirmationRequest":
    case "applyChangesRequest":
    case "modelCallRequest":
    case "diagnosticsRequest":
    case "findSymbolsRequest":
    case "workspaceRequest":
      return event.event.value.requestId;
    default:
      return undefined;
  }
}

function bound(
  request: { readonly requestId: string; readonly ownerEpoch: bigint },
  ask: (options: CommandOptions) => Promise<ClientEventBody>,
  failed: (message: string) => ClientEventBody,
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

const severities: Record<Diagnostic["severity"], DiagnosticSeverity> = {
  error: DiagnosticSeverity.ERROR,
  warning: DiagnosticSeverity.WARNING,
  information: DiagnosticSeverity.INFORMATION,
  hint: DiagnosticSeverity.HINT,
};

function diagnosticFields(diagnostic: Diagnostic) {
  return { ...diagnostic, severity: severities[diagnostic.severity] };
}
