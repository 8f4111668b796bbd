import type { ReviewState } from "@gennai/client/host/review-state";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { ContentCache } from "./content-cache.ts";

/** Why a change can only be refused; empty: it can be kept. */
export function objectionTo(change: ProposedChange): string {
  if (!change.conflict) return "";
  return change.warning === "" ? "The file is not as the change expects it." : change.warning;
}

/** Objections against applying, one line per file; undefined if they are no longer needed. */
export async function objections(
  changes: readonly ProposedChange[],
  state: ReviewState,
  cache: ContentCache,
): Promise<readonly string[] | undefined> {
  const found: string[] = [];
  try {
    for (const change of changes) {
      const objection = objectionTo(change) || (await cache.objection(change, state));
      if (objection !== undefined && objection !== "") found.push(`${change.path}: ${objection}`);
    }
  } catch {
    return undefined;
  }
  return found;
}
