/** What is, was or shall be at a path. Contents are named by SHA-256 (blobs), or by git's object id (snapshots), or both. */
export type FileState =
  | { readonly type: "absent" }
  | {
      /** A link's content is where it points to. */
      readonly type: "file" | "link";
      readonly sha256?: string;
      readonly object?: string;
      /** Permission bits; absent when nobody knows or cares. */
      readonly mode?: number;
    }
  /** It was not kept: nothing can be said about it. */
  | { readonly type: "unknown" };

/** What a step made of one path. */
export interface PathChange {
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
  /** Somebody else may have made it so, and nothing else holds what is there. */
  readonly uncertain?: true;
}

export function operationOf({ before, after }: PathChange): "create" | "update" | "delete" {
  if (before.type === "absent") return "create";
  return after.type === "absent" ? "delete" : "update";
}
