import type { FailureClass } from "../governance/tool-outcome.ts";

/** A workspace whose files a client holds, as described by the client. */
export interface ClientWorkspaceFacts {
  /** The same whenever this directory is opened: 16 to 128 letters, digits, dots, hyphens and underscores. */
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** Absolute path, with slashes. */
  readonly root: string;
  readonly home: string;
  /** As Node calls it, e.g. `linux`. */
  readonly platform: string;
  readonly commands: "none" | "unsandboxed";
}

/** Why nothing was done; the server tells the model. */
export class ClientWorkspaceError extends Error {
  override readonly name = "ClientWorkspaceError";
  /** Stable, of the server's list of codes. */
  readonly code: string;
  readonly hint: string;
  readonly failureClass: FailureClass;
  readonly retryable: boolean;

  constructor(
    code: string,
    message: string,
    options: {
      readonly hint?: string;
      readonly failureClass?: FailureClass;
      readonly retryable?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? "";
    this.failureClass = options.failureClass ?? "command_error";
    this.retryable = options.retryable ?? false;
  }
}

export interface ClientPath {
  readonly relative: string;
  readonly absolute: string;
  readonly inside: boolean;
}

export interface ClientFileStat {
  readonly kind: "file" | "directory" | "link" | "other";
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
}

export interface ClientFileContent {
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

export interface ClientEntry {
  readonly name: string;
  readonly kind: ClientFileStat["kind"];
}

export interface ClientSearch {
  /** In ripgrep's syntax. */
  readonly pattern: string;
  readonly base: string;
  /** Empty: every file. */
  readonly glob: string;
  readonly caseSensitive: boolean;
  readonly output: "content" | "files" | "count";
  /** Lines around a match. */
  readonly context: number;
  readonly limit: number;
  readonly exclude: readonly string[];
}

export interface ClientFileChange {
  readonly path: string;
  /** undefined: the file is deleted. */
  readonly bytes: Uint8Array | undefined;
  /** SHA-256 of what is there now; empty: nothing may be there. */
  readonly baseSha256: string;
  /** Permission bits. */
  readonly mode: number | undefined;
  /** After a delete: directories to remove as far as they are empty, outermost first. */
  readonly emptied: readonly string[];
}

export interface ChangedFile {
  readonly beforeSha256: string | undefined;
  readonly afterSha256: string | undefined;
  readonly beforeMode: number | undefined;
  readonly madeDirectories: readonly string[];
}

export interface ClientControl {
  readonly files: readonly ClientControlFile[];
  readonly git:
    | {
        readonly branch: string;
        readonly commit: string;
        readonly remoteDefault: string;
        readonly hooksPath: string;
      }
    | undefined;
}

export interface ClientControlFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** Why it cannot be used; empty when it can. */
  readonly problem: string;
}

export interface ClientCommand {
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  /** The server proved that it only reads. */
  readonly readsOnly: boolean;
}

export interface ClientCommandRun {
  readonly end: "exited" | "timed-out" | "aborted" | "too-much-output" | "over-limit";
  readonly exceeded: string;
  readonly exitCode: number | undefined;
  readonly signal: string;
  readonly output: string;
  readonly encoding: "utf-8" | "utf-16" | "unknown";
  readonly outputSha256: string;
  readonly leftOut: number;
  readonly survivors: readonly number[];
  /** For the model. */
  readonly notes: readonly string[];
}
