import type { HunkDecision } from "@gennai/protocol/apply-review";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";

/** How the decision about a change reads: on its buttons, and once it is made. */
export interface DecisionWords {
  readonly keep: string;
  readonly refuse: string;
  readonly kept: string;
  readonly refused: string;
}

/** To keep a deletion is not to keep the file, and a rename is one change of two paths. */
export function decisionWords({
  operation,
  movedFrom,
}: Pick<ProposedChange, "operation" | "movedFrom">): DecisionWords {
  if (operation === "delete")
    return { keep: "Delete", refuse: "Don't delete", kept: "will be deleted", refused: "stays" };
  if (movedFrom !== undefined)
    return { keep: "Rename", refuse: "Don't rename", kept: "will be renamed", refused: "keeps its name" };
  return { keep: "Keep", refuse: "Refuse", kept: "kept", refused: "refused" };
}

export function decisionWord({ kept, refused }: DecisionWords, decision: HunkDecision["type"] | undefined): string {
  switch (decision) {
    case "keep":
      return kept;
    case "undo":
      return refused;
    case "edited":
      return "edited by you";
    case undefined:
      return "not decided";
  }
}
