import type { ConfirmationScope, Question } from "@gennai/protocol/model/question";
import type { HeldWorkspace } from "../held-workspace/held-workspace.ts";
import type { AppliedFile, ProposedChange } from "../review/proposal.ts";

/**
 * What a server may ask of the place the user works in. Every method is optional: a client offers what it has, and is
 * asked for nothing else. A method that throws answers with the message of its error, so throw what a model can act on.
 * The signal aborts when the request is over: answered by another client, timed out, or cancelled.
 */
export interface Editor {
  readFile?(request: FileReadRequest, options: RequestOptions): Promise<FileRead>;
  runCommand?(request: CommandRequest, options: CommandOptions): Promise<CommandRun>;
  confirm?(question: ConfirmationQuestion, options: RequestOptions): Promise<ConfirmationReply>;
  /** All or nothing, each change against its base. */
  applyChanges?(request: ApplyRequest, options: RequestOptions): Promise<readonly AppliedFile[]>;
  /** Request and answer are JSON in the model contract's shape. */
  callModel?(requestJson: string, options: RequestOptions): Promise<string>;
  /** No paths: every file. */
  listDiagnostics?(paths: readonly string[], options: RequestOptions): Promise<readonly Diagnostic[]>;
  /** By the editor's language features: symbols whose name has this in it, of one file or of the workspace. */
  findSymbols?(request: SymbolRequest, options: RequestOptions): Promise<FoundSymbols>;
  /** Set when this client holds the session's files and the server cannot reach them. */
  readonly workspace?: HeldWorkspace;
}

export interface RequestOptions {
  readonly signal: AbortSignal;
}

export interface CommandOptions extends RequestOptions {
  /** Call it with output as it comes. */
  readonly onOutput: (text: string) => void;
}

export type EditorAbility = Exclude<keyof Editor, "workspace">;

const allAbilities: readonly EditorAbility[] = [
  "readFile",
  "runCommand",
  "confirm",
  "applyChanges",
  "callModel",
  "listDiagnostics",
  "findSymbols",
];

/** What an editor can be asked for: the methods it has. */
export function abilitiesOf(editor: Editor): ReadonlySet<EditorAbility> {
  return new Set(allAbilities.filter((ability) => editor[ability] !== undefined));
}

export interface FileReadRequest {
  readonly path: string;
  /** 1-based line; 0: from the beginning. */
  readonly offset: number;
  /** Lines; 0: all. */
  readonly limit: number;
  readonly reason: string;
}

export interface FileRead {
  /** The lines that were asked for. */
  readonly content: string;
  readonly source: "buffer" | "disk";
  readonly encoding: string;
  /** Counts the buffer's edits; 0 for disk. */
  readonly version: number;
  readonly dirty: boolean;
  /** SHA-256 of the whole text as it would be saved. */
  readonly sha256: string;
  /** SHA-256 of the bytes on disk; empty when there is no such file. */
  readonly diskSha256: string;
  readonly eol: "lf" | "crlf";
  readonly bom: boolean;
  readonly truncated: boolean;
  readonly totalLines: number;
}

export interface CommandRequest {
  readonly command: string;
  /** Absolute; empty: the workspace. */
  readonly cwd: string;
  readonly terminalName: string;
  /** undefined: as the editor thinks best. */
  readonly reveal: boolean | undefined;
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

export interface ConfirmationQuestion extends Question {
  readonly requestId: string;
  /** When the question expires; undefined: the clock does not run yet. */
  readonly deadline: Date | undefined;
}

export type ConfirmationReply =
  /** `pattern`: id of an offered pattern that the yes holds for; without it, it holds for the exact action. */
  | { readonly answer: "yes"; readonly scope: ConfirmationScope; readonly pattern?: string }
  /** The user's word; the reason goes to the model. */
  | { readonly answer: "no"; readonly reason: string }
  /** There was nobody to ask. Denies, and is not recorded as anybody's word. */
  | { readonly answer: "nobody"; readonly reason: string };

export interface ApplyRequest {
  readonly changeSetId: string;
  readonly changes: readonly ProposedChange[];
}

export interface Diagnostic {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning" | "information" | "hint";
  readonly message: string;
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
  /** function, class, method … */
  readonly kind: string;
  /** Relative to the workspace. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** What it is declared in; empty at the top. */
  readonly container: string;
}
