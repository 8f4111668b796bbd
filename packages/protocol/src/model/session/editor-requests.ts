import { CommandState, EndOfLine, FileSource } from "../../gen/gennai/agent/v1/agent_pb.ts";
import { DiagnosticSeverity } from "../../gen/gennai/agent/v1/event_pb.ts";
import { InvalidField, optionalDigest } from "../checked-field.ts";
import { EnumWords } from "../enum-words.ts";
import { editorRequest } from "./editor-request.ts";
import {
  type AppliedFile,
  appliedFileToMessage,
  changeFromMessage,
  changeToMessage,
  checkedAppliedFile,
  type ProposedChange,
} from "./proposal.ts";
import { replyFromMessage, replyToMessage, type UserQuestion } from "./user-question.ts";

export interface FileReadRequest {
  readonly path: string;
  /** 1-based line; 0: from the beginning. */
  readonly offset: number;
  /** Lines; 0: all. */
  readonly limit: number;
  readonly reason: string;
}

/** The newest text of a file: the buffer with its unsaved changes, or what the editor sees on disk. */
export interface FileRead {
  /** The lines that were asked for. */
  readonly content: string;
  readonly source: "buffer" | "disk";
  readonly encoding: string;
  /** Counts the buffer's edits; 0 for disk. */
  readonly version: number;
  readonly dirty: boolean;
  /** SHA-256 of the whole text as it would be saved; empty when the client did not say. */
  readonly sha256: string;
  /** SHA-256 of the bytes on disk; empty when there is no such file or the client did not say. */
  readonly diskSha256: string;
  readonly eol: "lf" | "crlf";
  /** True when the file begins with a byte order mark, which `content` does not hold. */
  readonly bom: boolean;
  readonly truncated: boolean;
  /** 0 when the client did not say. */
  readonly totalLines: number;
}

export interface CommandRequest {
  readonly command: string;
  /** Absolute; empty: the workspace. */
  readonly cwd: string;
  readonly terminalName: string;
  /** undefined: as the editor thinks best. */
  readonly reveal?: boolean | undefined;
}

export interface CommandRun {
  /** `unobserved`: the command was typed, and nobody can tell how it ended. */
  readonly state: "exited" | "unobserved";
  /** undefined: the terminal could not tell. */
  readonly exitCode: number | undefined;
  readonly output: string;
  readonly truncated: boolean;
  readonly terminalId: string;
}

export interface ApplyRequest {
  readonly changeSetId: string;
  readonly changes: readonly ProposedChange[];
}

export interface Diagnostic {
  /** Relative to the workspace, as the editor says; unchecked. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly severity: (typeof severityWords.words)[number];
  readonly message: string;
  /** E.g. `ts`. */
  readonly source: string;
}

export interface SymbolRequest {
  readonly query: string;
  /** Relative to the workspace; empty: all of it. */
  readonly path: string;
}

export interface FoundSymbols {
  readonly symbols: readonly FoundSymbol[];
  readonly truncated: boolean;
}

export interface FoundSymbol {
  readonly name: string;
  /** In the editor's own words: function, class … */
  readonly kind: string;
  /** Relative to the workspace, as the editor says; unchecked. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** What it is declared in; empty at the top. */
  readonly container: string;
}

const severityWords = new EnumWords({
  error: DiagnosticSeverity.ERROR,
  warning: DiagnosticSeverity.WARNING,
  information: DiagnosticSeverity.INFORMATION,
  hint: DiagnosticSeverity.HINT,
});

/** Language features of an editor may have to read a project first. */
const languageMs = 20_000;

/** More of them say nothing more. */
const maxDiagnostics = 5_000;
const maxSymbols = 1_000;

/**
 * What a server can request from an editor, one row each. Requests to a user, and for files that a client holds, are separate.
 */
export const editorRequests = {
  "file-read": editorRequest({
    method: "readFile",
    capability: "fileRead",
    event: "requestFileRead",
    answer: "fileReadResponse",
    purpose: "read the file",
    answerMs: 10_000,
    tell: ({ path }: FileReadRequest) => `Reads ${path} as it is in the editor`,
    toMessage: (request: FileReadRequest) => request,
    fromMessage: ({ path, offset, limit, reason }) => ({ path, offset, limit, reason }),
    answerToMessage: ({ source, version, eol, ...file }: FileRead, { path }) => ({
      ...file,
      path,
      source: source === "buffer" ? FileSource.BUFFER : FileSource.DISK,
      version: BigInt(version),
      eol: eol === "crlf" ? EndOfLine.CRLF : EndOfLine.LF,
    }),
    answerFromMessage(message): FileRead {
      const { path, content, encoding, dirty, bom, truncated, totalLines } = message;
      if (totalLines < 0 || message.version < 0n) {
        throw new InvalidField("version and total_lines cannot be negative.");
      }
      if (/^([/\\]|[A-Za-z]:)/.test(path) || path.split("/").includes("..")) {
        throw new InvalidField("path must be the one the request named.");
      }
      return {
        content,
        source: message.source === FileSource.DISK ? "disk" : "buffer",
        encoding,
        version: Number(message.version),
        dirty,
        sha256: optionalDigest(message.sha256),
        diskSha256: optionalDigest(message.diskSha256),
        eol: message.eol === EndOfLine.CRLF ? "crlf" : "lf",
        bom,
        truncated,
        totalLines,
      };
    },
    subject: ({ path }) => path,
    failure: (error, { path }) => ({ path, error }),
  }),

  command: editorRequest({
    method: "runCommand",
    capability: "executeCommand",
    event: "executeCommandRequest",
    answer: "commandDispatchResponse",
    purpose: "run the command",
    // A command in the user's terminal may take long; a client that vanished is noticed by its stream.
    answerMs: 60 * 60_000,
    // All that an original client answers is that it typed the command.
    originalAnswerMs: 30_000,
    tell: ({ command }: CommandRequest) => `Runs in the editor's terminal: ${command}`,
    toMessage: (request: CommandRequest) => request,
    fromMessage: ({ command, cwd, terminalName, reveal }) => ({ command, cwd, terminalName, reveal }),
    answerToMessage: ({ state, ...run }: CommandRun) => ({
      ...run,
      status: "SENT",
      state: state === "exited" ? CommandState.EXITED : CommandState.UNOBSERVED,
    }),
    answerFromMessage({ state, exitCode, output, truncated, terminalId }): CommandRun {
      return {
        state: state === CommandState.EXITED ? "exited" : "unobserved",
        exitCode,
        output,
        truncated,
        terminalId,
      };
    },
    failure: (error) => ({ status: "ERROR", error }),
    errorOf({ status, error }) {
      if (status === "SENT") return "";
      if (status === "ERROR") return error || "the command could not be sent";
      throw new InvalidField('status must be "SENT" or "ERROR".');
    },
  }),

  /** All or nothing, each change against its base. */
  "apply-changes": editorRequest({
    method: "applyChanges",
    capability: "applyChanges",
    event: "applyChangesRequest",
    answer: "applyChangesResponse",
    purpose: "apply the changes",
    answerMs: 30_000,
    tell: ({ changes }: ApplyRequest) => `Applies changes in the editor: ${changes.map(({ path }) => path).join(", ")}`,
    toMessage: ({ changeSetId, changes }: ApplyRequest) => ({ changeSetId, changes: changes.map(changeToMessage) }),
    fromMessage: ({ changeSetId, changes }) => ({ changeSetId, changes: changes.map(changeFromMessage) }),
    answerToMessage: (files: readonly AppliedFile[]) => ({ files: files.map(appliedFileToMessage) }),
    answerFromMessage: ({ files }) => files.map(checkedAppliedFile),
  }),

  /** Request and answer are JSON in the model contract's shape. */
  "model-call": editorRequest({
    method: "callModel",
    capability: "modelCall",
    event: "modelCallRequest",
    answer: "modelCallResponse",
    purpose: "call its model",
    answerMs: 10 * 60_000,
    // The log has the conversation already.
    inLog: { requestJson: "" },
    tell: () => "Asks the editor's model",
    toMessage: (request: { readonly requestJson: string }) => request,
    fromMessage: ({ requestJson }) => ({ requestJson }),
    answerToMessage: (eventsJson: string) => ({ eventsJson }),
    answerFromMessage: ({ eventsJson }) => eventsJson,
  }),

  /** Problems that the editor's language features report; no paths: of every file. */
  diagnostics: editorRequest({
    method: "listDiagnostics",
    capability: "diagnostics",
    event: "diagnosticsRequest",
    answer: "diagnosticsResponse",
    purpose: "list problems",
    answerMs: languageMs,
    tell: () => "Asks the editor for its problems",
    toMessage: ({ paths }: { readonly paths: readonly string[] }) => ({ paths: [...paths] }),
    fromMessage: ({ paths }) => ({ paths }),
    answerToMessage: (found: readonly Diagnostic[]) => ({
      diagnostics: found.map((each) => ({ ...each, severity: severityWords.toMessage(each.severity) })),
    }),
    answerFromMessage: ({ diagnostics }) =>
      diagnostics.slice(0, maxDiagnostics).map(({ path, line, column, severity, message, source }) => {
        return { path, line, column, severity: severityWords.fromMessage(severity) ?? "information", message, source };
      }),
  }),

  /** The model asks the person before a client. How long that may take, the session's settings say. */
  "user-question": editorRequest({
    method: "askUser",
    capability: "askUser",
    event: "userQuestionRequest",
    answer: "userQuestionResponse",
    purpose: "ask its user",
    answerMs: 10 * 60_000,
    tell: ({ questions }: { readonly questions: readonly UserQuestion[] }) =>
      `The model asks: ${questions.map(({ question }) => question).join(" ")}`,
    toMessage: ({ questions }: { readonly questions: readonly UserQuestion[] }) => ({
      questions: questions.map((each) => ({ ...each, options: [...each.options] })),
    }),
    fromMessage: ({ questions }) => ({
      questions: questions.map(({ question, header, options, multiple }) => {
        return {
          question,
          header,
          multiple,
          options: options.map(({ label, description }) => ({ label, description })),
        };
      }),
    }),
    answerToMessage: replyToMessage,
    answerFromMessage: replyFromMessage,
  }),

  /** By the editor's language features: symbols whose name has this in it. */
  "find-symbols": editorRequest({
    method: "findSymbols",
    capability: "findSymbols",
    event: "findSymbolsRequest",
    answer: "findSymbolsResponse",
    purpose: "find symbols",
    answerMs: languageMs,
    tell: ({ query }: SymbolRequest) => `Looks for “${query}” among the editor's symbols`,
    toMessage: (request: SymbolRequest) => request,
    fromMessage: ({ query, path }) => ({ query, path }),
    answerToMessage: ({ symbols, truncated }: FoundSymbols) => ({ symbols: [...symbols], truncated }),
    answerFromMessage: ({ symbols, truncated }) => ({
      truncated: truncated || symbols.length > maxSymbols,
      symbols: symbols
        .slice(0, maxSymbols)
        .map(({ name, kind, path, line, container }) => ({ name, kind, path, line, container })),
    }),
  }),
};
