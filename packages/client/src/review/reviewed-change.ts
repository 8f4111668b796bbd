import { applyReview } from "@gennai/protocol/apply-review";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { HunkDecisions } from "@gennai/protocol/whole-moves";
import { type ContentSource, proposedText } from "./change-content.ts";

/** How a file is to be changed. */
export type ReviewedChange =
  | { readonly operation: "create"; readonly path: string; readonly text: string }
  | { readonly operation: "update"; readonly path: string; readonly text: string; readonly baseSha256: string }
  | { readonly operation: "delete"; readonly path: string; readonly baseSha256: string };

/** A file as it is now. */
export interface BaseFile {
  readonly text: string;
  readonly sha256: string;
}

/** Whether the file differs from what the proposal was based on. */
export function isStale({ conflict, baseSha256 }: ProposedChange, base: BaseFile | undefined): boolean {
  return conflict || (base?.sha256 ?? "") !== baseSha256;
}

/** The result of a change with these decisions, on a base that is not stale; undefined if the file stays unchanged. */
export async function reviewedChange(
  change: ProposedChange,
  base: BaseFile | undefined,
  decisions: HunkDecisions,
  options: { readonly session: ContentSource; readonly signal: AbortSignal },
): Promise<ReviewedChange | undefined> {
  const { path, operation, baseSha256 } = change;
  const newText = operation === "delete" ? undefined : await proposedText(change, options);
  const reviewed = applyReview(base?.text, newText, change, decisions);
  switch (reviewed.type) {
    case "unchanged":
      return undefined;
    case "delete":
      return { operation: "delete", path, baseSha256 };
    case "write":
      return base === undefined
        ? { operation: "create", path, text: reviewed.text }
        : { operation: "update", path, text: reviewed.text, baseSha256 };
  }
}
