import { countDecisions, type Decided } from "@gennai/client/host/review-state";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { useMemo } from "preact/hooks";
import { VisibleText } from "../../look/visible-text.tsx";
import { hunkCounts } from "../diff/diff-rows.ts";

export interface FileListProps {
  readonly changes: readonly ProposedChange[];
  readonly decisions: Decided["decisions"];
  readonly currentId: string | undefined;
  readonly onSelect: (changeId: string) => void;
}

/** The files of a proposal, and how much of each is decided. */
export function FileList({ changes, decisions, currentId, onSelect }: FileListProps) {
  const counts = useMemo(() => new Map(changes.map((change) => [change.id, hunkCounts(change.hunks)])), [changes]);
  return (
    <nav class="file-list" aria-label="Files of the proposal">
      <ul>
        {changes.map((change) => {
          const { added = 0, removed = 0 } = counts.get(change.id) ?? {};
          const slash = change.path.lastIndexOf("/") + 1;
          const word = progressWord({ decisions }, change);
          return (
            <li key={change.id}>
              <button
                type="button"
                class={change.id === currentId ? "file-entry selected" : "file-entry"}
                aria-current={change.id === currentId ? "true" : undefined}
                title={change.path}
                onClick={() => onSelect(change.id)}
              >
                <span class={`file-dot file-dot-${word.replace(" ", "-")}`} aria-hidden="true" />
                <span class="file-name">
                  <VisibleText text={change.path.slice(slash)} />
                  <VisibleText in="span" class="file-directory" text={change.path.slice(0, slash)} />
                </span>
                <span class="file-counts">
                  <span class="file-added">+{added}</span> <span class="file-removed">−{removed}</span>
                </span>
                <span class="g-spoken">
                  , {word}
                  {change.conflict ? ", conflict" : ""}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

function progressWord(state: Decided, change: ProposedChange): "not decided" | "partly" | "kept" | "refused" | "mixed" {
  const { total, kept, undone, open } = countDecisions(state, [change]);
  if (open === total) return "not decided";
  if (open > 0) return "partly";
  if (kept === total) return "kept";
  return undone === total ? "refused" : "mixed";
}
