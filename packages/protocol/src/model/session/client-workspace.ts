import {
  CommandPlace,
  OutputEncoding,
  PathKind,
  ProgramEnd,
  SearchOutput,
} from "../../gen/gennai/agent/v1/workspace_pb.ts";
import { EnumWords } from "../enum-words.ts";
import type { FailureClass } from "../governance/tool-outcome.ts";

export const pathKindWords = new EnumWords({
  file: PathKind.FILE,
  directory: PathKind.DIRECTORY,
  link: PathKind.LINK,
  other: PathKind.OTHER,
});

export const searchOutputWords = new EnumWords({
  content: SearchOutput.CONTENT,
  files: SearchOutput.FILES,
  count: SearchOutput.COUNT,
});

export const programEndWords = new EnumWords({
  exited: ProgramEnd.EXITED,
  "timed-out": ProgramEnd.TIMED_OUT,
  aborted: ProgramEnd.ABORTED,
  "too-much-output": ProgramEnd.TOO_MUCH_OUTPUT,
  "over-limit": ProgramEnd.OVER_LIMIT,
});

export const outputEncodingWords = new EnumWords({
  "utf-8": OutputEncoding.UTF_8,
  "utf-16": OutputEncoding.UTF_16,
  unknown: OutputEncoding.UNKNOWN,
});

export const commandPlaceWords = new EnumWords({
  none: CommandPlace.UNSPECIFIED,
  unsandboxed: CommandPlace.UNSANDBOXED,
});

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
  readonly commands: (typeof commandPlaceWords.words)[number];
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
  readonly kind: (typeof pathKindWords.words)[number];
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

export interface ClientFind {
  /** A glob; for a search, in ripgrep's syntax. */
  readonly pattern: string;
  readonly base: string;
  readonly limit: number;
  readonly exclude: readonly string[];
}

export interface ClientSearch extends ClientFind {
  /** Empty: every file. */
  readonly glob: string;
  readonly caseSensitive: boolean;
  readonly output: (typeof searchOutputWords.words)[number];
  /** Lines around a match. */
  readonly context: number;
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
  readonly git: ClientHead | undefined;
}

export interface ClientHead {
  /** Empty on a detached HEAD. */
  readonly branch: string;
  /** Empty before the first commit. */
  readonly commit: string;
  /** Empty if unknown. */
  readonly remoteDefault: string;
  /** Relative to the root, or absolute on the client's machine; empty: git's default. */
  readonly hooksPath: string;
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
  readonly end: (typeof programEndWords.words)[number];
  readonly exceeded: string;
  readonly exitCode: number | undefined;
  readonly signal: string;
  readonly output: string;
  readonly encoding: (typeof outputEncodingWords.words)[number];
  readonly outputSha256: string;
  readonly leftOut: number;
  readonly survivors: readonly number[];
  /** For the model. */
  readonly notes: readonly string[];
}
