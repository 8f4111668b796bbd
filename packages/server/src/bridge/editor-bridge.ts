import type { FileChangeRecord, ProposedChange } from "@gennai/agent/proposal";

/** What a session can ask the clients attached to it. Each question is durable before it is sent and answered once. */
export interface EditorBridge {
  /** True when an attached client said it can answer this. */
  can(
    ability: "file-read" | "command" | "apply-changes" | "confirmation" | "model-call" | "diagnostics" | "find-symbols",
  ): boolean;

  /**
   * The newest text of a file: the buffer with its unsaved changes, or what the editor sees on disk.
   * Throws `ToolFailure` (`not_found`, `client_error`, `client_timeout`).
   */
  readFile(
    request: { readonly path: string; readonly offset: number; readonly limit: number; readonly reason: string },
    options: { readonly signal: AbortSignal },
  ): Promise<EditorFile>;

  /**
   * Applies changes through the editor, all or nothing, each against its base. Throws `ToolFailure` (`client_error`,
   * `client_timeout`); nothing was applied then, as far as the editor says.
   */
  applyChanges(
    request: { readonly changeSetId: string; readonly changes: readonly ProposedChange[] },
    options: { readonly signal: AbortSignal },
  ): Promise<readonly FileChangeRecord[]>;

  /** Runs a command in the user's terminal. Throws `ToolFailure` (`client_error`, `client_timeout`). */
  runCommand(
    request: {
      readonly command: string;
      /** Absolute. */
      readonly cwd: string;
      readonly terminalName: string;
      readonly reveal?: boolean;
    },
    options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
  ): Promise<TerminalRun>;

  /**
   * Problems that the editor's language features report; no paths: of every file. Throws `ToolFailure` (`client_error`,
   * `client_timeout`).
   */
  listDiagnostics(
    paths: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<readonly EditorDiagnostic[]>;

  /** Where something is declared, by the editor's language features. Throws as `listDiagnostics` does. */
  findSymbols(
    request: { readonly query: string; readonly path: string },
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly symbols: readonly EditorSymbol[]; readonly truncated: boolean }>;
}

export interface EditorDiagnostic {
  /** Relative to the workspace, as the editor says; unchecked. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning" | "information" | "hint";
  readonly message: string;
  /** E.g. `ts`. */
  readonly source: string;
}

export interface EditorSymbol {
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

export interface EditorFile {
  readonly path: string;
  /** The lines that were asked for. */
  readonly content: string;
  readonly source: "buffer" | "disk";
  readonly dirty: boolean;
  /** Counts edits; 0 for disk. */
  readonly version: number;
  /** SHA-256 of the whole text as it would be saved; empty when the client did not say. */
  readonly sha256: string;
  /** SHA-256 of the bytes on disk; empty when there is no such file or the client did not say. */
  readonly diskSha256: string;
  /** True when the file begins with a byte order mark, which `content` does not hold. */
  readonly bom: boolean;
  readonly truncated: boolean;
  /** 0 when the client did not say. */
  readonly totalLines: number;
}

export interface TerminalRun {
  /** `unobserved`: the command was typed, and nobody can tell how it ended. */
  readonly state: "exited" | "unobserved";
  /** undefined: the terminal could not tell. */
  readonly exitCode: number | undefined;
  readonly output: string;
  readonly truncated: boolean;
  readonly terminalId: string;
}
