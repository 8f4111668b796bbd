import type { ClientCommand, ClientFind, ClientSearch } from "@gennai/protocol/model/session/client-workspace";

/**
 * One operation that a session requests from the client that holds its files. Paths are relative to the root, with
 * slashes; empty for the root itself.
 */
export type WorkspaceOperation =
  | { readonly type: "resolve"; readonly raw: string }
  | { readonly type: "stat"; readonly path: string }
  | {
      readonly type: "read";
      readonly path: string;
      /** Maximum size of a file, in bytes. */
      readonly maxBytes: number;
      /** The requested part, in bytes. */
      readonly offset: number;
      readonly length: number;
    }
  | { readonly type: "list"; readonly path: string; readonly ignore: readonly string[]; readonly limit: number }
  | ({ readonly type: "find" } & ClientFind)
  | ({ readonly type: "search" } & ClientSearch)
  | {
      readonly type: "change";
      readonly changes: readonly FileRewrite[];
      /** The branch HEAD must be on; empty: any. */
      readonly branch: string;
    }
  | {
      readonly type: "control";
      readonly files: readonly string[];
      readonly directories: readonly string[];
      /** Digest of the answer the server already has; empty: none. */
      readonly knownDigest: string;
    }
  | ({ readonly type: "run" } & ClientCommand);

/** A change to one file. The log holds no contents; they are blobs. */
export interface FileRewrite {
  readonly path: string;
  /** SHA-256 of the new content; empty: the file is deleted. */
  readonly contentSha256: string;
  /** SHA-256 of the current content; empty: the file must not exist. */
  readonly baseSha256: string;
  /** Permission bits. */
  readonly mode?: number;
  /** After a delete: directories to remove if they are empty, outermost first. */
  readonly emptied: readonly string[];
}
