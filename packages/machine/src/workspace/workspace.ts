import type { WorkspacePath } from "@gennai/governance/effect";
import type { CommandRun } from "../process/run-command.ts";
import type { FileContent } from "./files/content-digest.ts";
import type { ResolveOptions } from "./paths/resolve-path.ts";

export type { FileContent, ResolveOptions };

/**
 * The files a session works on. Tools know only this port; `LocalWorkspace` is the disk, `ClientWorkspace` a client that
 * holds the files.
 * Every path given to a method except `resolve` was made by `resolve`. Expected failures are `ToolFailure`s.
 */
export interface Workspace {
  /** Real absolute path of the root, fixed when the workspace was opened. */
  readonly root: string;

  /** Name of the workspace in the log, the ledger and claims: the root, or a name that no path has. */
  readonly place: string;

  /**
   * Directory of this machine from which the files that steer the agent are read: the root, or a mirror. Throws
   * `workspace_unreachable` if the mirror was never filled.
   */
  readonly controlRoot: string;

  /** Set when a client holds the files. */
  readonly client?: ClientSide;

  /**
   * Updates `controlRoot` to the state where the files are. Throws `ToolFailure` if that is impossible; then nothing that changes
   * something may run.
   * @param options.workedOn files whose directories may have notes of their own
   * @param options.maxAgeMs a look that is not older is enough; by default it always looks
   */
  syncControl(options?: {
    readonly workedOn?: Iterable<string> | undefined;
    readonly maxAgeMs?: number;
    readonly signal?: AbortSignal | undefined;
  }): Promise<void>;

  /**
   * Resolves what a model wrote: relative to the root or absolute, links followed, `..` removed. Never throws for a path
   * outside, the policy refuses that (`inside: false`). Throws `bad_path` for what is not a path at all: empty, longer than
   * 4,096 bytes, control characters, a loop of links; and, where nothing is, for a URI, device names and backslashes.
   */
  resolve(raw: string, options?: ResolveOptions): Promise<WorkspacePath>;

  /** Undefined if nothing is there. Follows no links: the path is already real. */
  stat(path: WorkspacePath): Promise<FileStat | undefined>;

  /** Whole bytes of a regular file. `too_large` above `maxBytes`, `not_found`, `not_a_file` (directory, FIFO, socket, device). */
  read(
    path: WorkspacePath,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<FileContent>;

  list(path: WorkspacePath, options: { readonly ignore: readonly string[]; readonly limit: number }): Promise<Listing>;

  /** File paths (relative to the root) that match, newest first, except what git's rules or `exclude` leave out. */
  glob(
    pattern: string,
    base: WorkspacePath,
    options: { readonly limit: number; readonly exclude?: readonly string[]; readonly signal: AbortSignal },
  ): Promise<{ readonly paths: readonly string[]; readonly truncated: boolean }>;

  search(query: SearchQuery, base: WorkspacePath, options: { readonly signal: AbortSignal }): Promise<SearchResult>;

  /**
   * Applies changes in order, each against its base hash, re-checked right before the rename: `stale_file` when it differs.
   * Text goes to a temporary file in the held directory, is synced, renamed, and the directory is synced.
   * All or nothing for expected failures: what was already applied is taken back. A crash in between leaves a journal in the
   * state directory that `recover` reads.
   *
   * New files are prepared while `options.ready` goes on. If that rejects, so does `apply`, and nothing is changed.
   */
  apply(changes: readonly WorkspaceChange[], options?: ApplyOptions): Promise<readonly AppliedChange[]>;
}

/** A command that the client ran. */
export interface ClientRun {
  readonly run: CommandRun;
  /** Notes for the model. */
  readonly notes: readonly string[];
}

/** What differs if a client holds the files. */
export interface ClientSide {
  /** The user's home on the client's machine. */
  readonly home: string;
  /** Platform name as in Node's `process.platform`. */
  readonly platform: string;
  /** Whether the client runs commands. */
  readonly commands: "none" | "unsandboxed";
  /** Runs a shell command on the client's machine. Throws `ToolFailure`. */
  run(
    command: {
      readonly text: string;
      readonly cwd: WorkspacePath;
      readonly timeoutMs: number;
      readonly readsOnly: boolean;
    },
    options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
  ): Promise<ClientRun>;
}

export interface FileStat {
  readonly kind: "file" | "directory" | "other";
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
}

export interface Listing {
  readonly entries: readonly { readonly name: string; readonly kind: "file" | "directory" | "link" | "other" }[];
  readonly truncated: boolean;
}

export interface SearchQuery {
  /** Regular expression in ripgrep's syntax. */
  readonly pattern: string;
  readonly glob?: string;
  readonly caseSensitive: boolean;
  readonly output: "content" | "files" | "count";
  /** Lines around a match. */
  readonly context: number;
  readonly limit: number;
  /** Globs of paths that must not be reached. */
  readonly exclude: readonly string[];
}

export interface SearchResult {
  readonly lines: readonly string[];
  readonly truncated: boolean;
}

/** Only the disk's own workspace takes links. */
export type WorkspaceChange =
  | {
      readonly operation: "create";
      readonly path: WorkspacePath;
      readonly bytes: Uint8Array;
      /** `bytes` are the target of a symbolic link. */
      readonly isLink?: boolean;
      /** Permission bits; without them, the system's default for a new file. */
      readonly mode?: number;
    }
  | {
      readonly operation: "update";
      readonly path: WorkspacePath;
      readonly bytes: Uint8Array;
      readonly isLink?: boolean;
      /** Of the content, or of the target if that is a link. */
      readonly baseSha256: string;
      readonly isBaseLink?: boolean;
      /** Permission bits; without them, the mode stays. */
      readonly mode?: number;
    }
  | {
      readonly operation: "delete";
      readonly path: WorkspacePath;
      readonly baseSha256: string;
      readonly isBaseLink?: boolean;
      /** Directories to remove afterwards if they are empty, outermost first, relative to the root. */
      readonly emptied?: readonly string[];
    };

export interface AppliedChange {
  readonly path: WorkspacePath;
  readonly operation: "create" | "update" | "delete";
  /** `bytes` if they are already in memory. */
  readonly before: { readonly sha256: string; readonly bytes?: Uint8Array } | undefined;
  readonly afterSha256: string | undefined;
  /** Permission bits of the earlier file. */
  readonly beforeMode?: number;
  /** Directories that had to be created for it, outermost first, relative to the root. */
  readonly madeDirectories?: readonly string[];
  /** The earlier file has other names (hard links), which keep its content. */
  readonly isLinked?: boolean;
}

export interface ApplyOptions {
  /** Also replaces files that may not be written, because a person asked for it. */
  readonly readOnlyToo?: boolean;
  /** What must be done before any change is made. */
  readonly ready?: Promise<unknown>;
  /** Gets what makes the new names durable, from one who waits for it beside something else; else `apply` waits for it. */
  readonly later?: Promise<unknown>[];
}
