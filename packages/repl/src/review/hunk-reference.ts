import { decidableIds } from "@gennai/client/host/review-state";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";

/** A hunk of a review. */
export interface HunkReference {
  readonly changeId: string;
  readonly hunkId: string;
}

/** Every hunk of a proposal that needs a decision, in order. */
export function placesOf(changes: readonly ProposedChange[]): readonly HunkReference[] {
  return changes.flatMap((change) => decidableIds(change).map((hunkId) => ({ changeId: change.id, hunkId })));
}

/** Id of the DOM element of a hunk. */
export function hunkElementId(fileElementId: string, index: number): string {
  return `${fileElementId}-hunk-${index}`;
}
