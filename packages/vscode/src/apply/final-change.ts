import type { ReviewedChange } from "@gennai/client/review/reviewed-change";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { EditorError } from "../editor/editor-error.ts";

/** How a file is to be changed. An updated file keeps its byte-order mark and encoding. */
export type FinalChange =
  | { readonly operation: "create"; readonly path: string; readonly bytes: Uint8Array }
  | (Extract<ReviewedChange, { readonly operation: "update" }> & {
      /** The text that it is based on: what differs from that by now, on other lines, stays. Without it, nothing may differ. */
      readonly from?: string;
    })
  | Extract<ReviewedChange, { readonly operation: "delete" }>;

/** A change as it was proposed, as a whole. Throws `EditorError` for one that a person must decide first. */
export function finalChange(change: ProposedChange): FinalChange {
  const { path, operation, newContent, baseSha256 } = change;
  if (change.conflict) {
    throw new EditorError(
      "conflict",
      `${path} has a conflict and is not applied without review.`,
      "Review the proposal.",
    );
  }
  if (operation === "delete") return { operation, path, baseSha256 };
  if (change.newContentBlob !== undefined && newContent === "") {
    throw new EditorError("incomplete_change", `The new text of ${path} was not sent.`, "Send it with the change.");
  }
  return operation === "create"
    ? { operation, path, bytes: new TextEncoder().encode(newContent) }
    : { operation, path, text: newContent, baseSha256 };
}
