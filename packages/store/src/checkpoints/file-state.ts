/** Past, present or intended state of a path. Contents are named by SHA-256 (blobs), by git's object id (snapshots), or both. */
export type FileState =
  | { readonly type: "absent" }
  | {
      /** The content of a link is its target. */
      readonly type: "file" | "link";
      readonly sha256?: string;
      readonly object?: string;
      /** Permission bits; absent if unknown or irrelevant. */
      readonly mode?: number;
    }
  /** The state was not kept, so that nothing is known about it. */
  | { readonly type: "unknown" };

/** A step's change of one path. */
export interface PathChange {
  readonly path: string;
  readonly before: FileState;
  readonly after: FileState;
  /** Someone else may have made the change, and the content is stored nowhere else. */
  readonly uncertain?: true;
}

export function operationOf({ before, after }: PathChange): "create" | "update" | "delete" {
  if (before.type === "absent") return "create";
  return after.type === "absent" ? "delete" : "update";
}
