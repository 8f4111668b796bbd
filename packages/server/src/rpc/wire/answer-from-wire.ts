import { isAbsolute } from "node:path";
import type {
  ClientEvent,
  CommandDispatchResponse,
  FileReadResponse,
} from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { CommandState, FileSource } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import {
  DiagnosticSeverity,
  type DiagnosticsResponse,
  type FindSymbolsResponse,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import {
  ConfirmationAnswer,
  type ConfirmationResponse,
  ConfirmationScope,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { digest, optionalDigest, requestId } from "@gennai/protocol/model/checked-field";
import { scopeWords } from "@gennai/protocol/model/question";
import type { ClientAnswer } from "../../bridge/client-answer.ts";
import type { EditorDiagnostic } from "../../bridge/editor-bridge.ts";
import { ServiceError } from "../../service-error.ts";
import { fileFromWire } from "./change-wire.ts";
import { workspaceAnswerFromWire } from "./workspace-wire.ts";

export interface IncomingAnswer {
  readonly requestId: string;
  readonly answer: ClientAnswer;
}

/** The answer in a client event; undefined when the event is no answer to a request. Control fields it must not have are ignored. */
export function answerFromWire(event: ClientEvent["event"]): IncomingAnswer | undefined {
  switch (event.case) {
    case "fileReadResponse":
      return { requestId: requestId(event.value.requestId), answer: fileRead(event.value) };
    case "commandDispatchResponse":
      return { requestId: requestId(event.value.requestId), answer: command(event.value) };
    case "confirmationResponse":
      return { requestId: requestId(event.value.requestId), answer: confirmation(event.value) };
    case "applyChangesResponse": {
      const { requestId: id, files, error } = event.value;
      return { requestId: requestId(id), answer: { kind: "apply-changes", files: files.map(fileFromWire), error } };
    }
    case "modelCallResponse": {
      const { requestId: id, eventsJson, error } = event.value;
      return { requestId: requestId(id), answer: { kind: "model-call", eventsJson, error } };
    }
    case "diagnosticsResponse":
      return { requestId: requestId(event.value.requestId), answer: diagnostics(event.value) };
    case "findSymbolsResponse":
      return { requestId: requestId(event.value.requestId), answer: foundSymbols(event.value) };
    case "workspaceResponse": {
      const { requestId: id, result } = event.value;
      return { requestId: requestId(id), answer: { kind: "workspace", answer: workspaceAnswerFromWire(result) } };
    }
    default:
      return undefined;
  }
}

/** True for "the command was typed and goes on": the request stays open until a later response tells its end. */
export function isStillRunning(event: ClientEvent["event"]): boolean {
  return (
    event.case === "commandDispatchResponse" &&
    event.value.state === CommandState.RUNNING &&
    event.value.status === "SENT"
  );
}

function fileRead(response: FileReadResponse): ClientAnswer {
  if (response.totalLines < 0 || response.version < 0n) {
    throw new ServiceError("invalid_argument", "version and total_lines cannot be negative.");
  }
  if (isAbsolute(response.path) || response.path.split("/").includes("..")) {
    throw new ServiceError("invalid_argument", "path must be the one the request named.");
  }
  return {
    kind: "file-read",
    error: response.error,
    file: {
      path: response.path,
      content: response.content,
      source: response.source === FileSource.DISK ? "disk" : "buffer",
      dirty: response.dirty,
      version: Number(response.version),
      sha256: optionalDigest(response.sha256),
      diskSha256: optionalDigest(response.diskSha256),
      bom: response.bom,
      truncated: response.truncated,
      totalLines: response.totalLines,
    },
  };
}

function command(response: CommandDispatchResponse): ClientAnswer {
  if (response.status !== "SENT" && response.status !== "ERROR") {
    throw new ServiceError("invalid_argument", 'status must be "SENT" or "ERROR".');
  }
  const error = response.status === "ERROR" ? response.error || "the command could not be sent" : "";
  return {
    kind: "command",
    error,
    run: {
      state: response.state === CommandState.EXITED ? "exited" : "unobserved",
      exitCode: response.exitCode,
      output: response.output,
      truncated: response.truncated,
      terminalId: response.terminalId,
    },
  };
}

const severities = new Map<DiagnosticSeverity, EditorDiagnostic["severity"]>([
  [DiagnosticSeverity.ERROR, "error"],
  [DiagnosticSeverity.WARNING, "warning"],
  [DiagnosticSeverity.INFORMATION, "information"],
  [DiagnosticSeverity.HINT, "hint"],
]);

/** More of them say nothing more. */
const maxDiagnostics = 5_000;
const maxSymbols = 1_000;

function diagnostics({ diagnostics: found, error }: DiagnosticsResponse): ClientAnswer {
  return {
    kind: "diagnostics",
    error,
    diagnostics: found.slice(0, maxDiagnostics).map(({ path, line, column, severity, message, source }) => ({
      ...{ path, line, column, message, source },
      severity: severities.get(severity) ?? "information",
    })),
  };
}

function foundSymbols({ symbols, truncated, error }: FindSymbolsResponse): ClientAnswer {
  return {
    kind: "find-symbols",
    error,
    truncated: truncated || symbols.length > maxSymbols,
    symbols: symbols
      .slice(0, maxSymbols)
      .map(({ name, kind, path, line, container }) => ({ name, kind, path, line, container })),
  };
}

const answers = new Map<ConfirmationAnswer, "yes" | "no" | "nobody">([
  [ConfirmationAnswer.YES, "yes"],
  [ConfirmationAnswer.NO, "no"],
  [ConfirmationAnswer.NOBODY, "nobody"],
]);

function confirmation(response: ConfirmationResponse): ClientAnswer {
  return {
    kind: "confirmation",
    // Anything but a clear yes denies, an unknown number included.
    answer: answers.get(response.answer) ?? "unclear",
    scope:
      response.scope === ConfirmationScope.UNSPECIFIED
        ? "once"
        : scopeWords.checkedFromMessage(response.scope, "scope"),
    reason: response.reason,
    actionSha256: response.actionSha256,
    ...(response.patternId === "" ? {} : { pattern: digest(response.patternId) }),
  };
}
