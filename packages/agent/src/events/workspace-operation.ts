/**
 * One thing a session asks of the client that holds its files. Paths are relative to the root, with slashes; empty for the
 * root itself.
 */
export type WorkspaceOperation =
  | { readonly type: "resolve"; readonly raw: string }
  | { readonly type: "stat"; readonly path: string }
  | {
      readonly type: "read";
      readonly path: string;
      /** Largest file, in bytes. */
      readonly maxBytes: number;
      /** The part that is wanted, in bytes. */
      readonly offset: number;
      readonly length: number;
    }
  | { readonly type: "list"; readonly path: string; readonly ignore: readonly string[]; readonly limit: number }
  | {
      readonly type: "find";
      readonly pattern: string;
      readonly base: string;
      readonly limit: number;
      readonly exclude: readonly string[];
    }
  | {
      readonly type: "search";
      readonly base: string;
      readonly pattern: string;
      readonly glob?: string;
      readonly caseSensitive: boolean;
      readonly output: "content" | "files" | "count";
      readonly context: number;
      readonly limit: number;
      readonly exclude: readonly string[];
    }
  | {
      readonly type: "change";
      readonly changes: readonly FileRewrite[];
      /** The branch that HEAD must be on; empty: any. */
      readonly branch: string;
    }
  | {
      readonly type: "control";
      readonly files: readonly string[];
      readonly directories: readonly string[];
      /** Digest of the answer that is there; empty: none. */
      readonly knownDigest: string;
    }
  | {
      readonly type: "run";
      readonly command: string;
      readonly cwd: string;
      readonly timeoutMs: number;
      readonly readsOnly: boolean;
    };

/** What happens to one file. Contents are blobs: the log holds none of them. */
export interface FileRewrite {
  readonly path: string;
  /** SHA-256 of the new content; empty: the file is deleted. */
  readonly contentSha256: string;
  /** SHA-256 of what is there now; empty: nothing may be there. */
  readonly baseSha256: string;
  /** Permission bits. */
  readonly mode?: number;
  /** After a delete: directories to remove as far as they are empty, outermost first. */
  readonly emptied: readonly string[];
}
