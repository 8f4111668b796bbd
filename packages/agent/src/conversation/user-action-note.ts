import type { ProposalReview } from "../events/proposal.ts";
import type { SessionEvent } from "../events/session-event.ts";

type UserAction = Extract<
  SessionEvent,
  { readonly type: "proposal-review" | "change-set-undone" | "checkpoint-restored" }
>;

/** The text that tells the model what the user did outside the conversation. */
export function userActionNote(event: UserAction): string {
  switch (event.type) {
    case "proposal-review":
      return reviewForModel(event.review);
    case "change-set-undone":
      return `[The user undid changes to: ${event.files.map((file) => file.path).join(", ")}. Read a file again before you edit it.]`;
    case "checkpoint-restored":
      return restoreForModel(event.files);
  }
}

/** Maximum files listed when many are restored at once. */
const maxRestored = 100;

function restoreForModel(files: readonly { readonly path: string }[]): string {
  const named = files.slice(0, maxRestored).map(({ path }) => JSON.stringify(path));
  const more = files.length > named.length ? ` and ${files.length - named.length} more` : "";
  return `[The user restored these files to an earlier state: ${named.join(", ")}${more}. Read a file again before you edit it.]`;
}

function reviewForModel(review: ProposalReview): string {
  const lines = review.hunks.map((hunk) => {
    const which = hunk.hunkId === "" ? hunk.changeId : `${hunk.changeId}, hunk ${hunk.hunkId}`;
    const edited = hunk.decision === "edited" ? `; the user's text:\n${hunk.editedText}` : "";
    return `- ${which}: ${hunk.decision}${hunk.note === "" ? "" : ` (${hunk.note})`}${edited}`;
  });
  const note = review.note === "" ? "" : `\nThe user says: ${review.note}`;
  return `[The user reviewed the proposed changes.]\n${lines.join("\n")}${note}`;
}
