import type { ViewItem } from "@gennai/client/view/items/view-item";

/** Accessible name of a row of the conversation: the speaker. Never changes during the row's life. */
export function rowName(item: ViewItem): string {
  return item.kind === "tool-call" ? `Tool call ${item.name}` : names[item.kind];
}

const names: Readonly<Record<Exclude<ViewItem["kind"], "tool-call">, string>> = {
  "user-message": "You",
  thinking: "Thinking",
  assistant: "Gennai",
  "client-request": "Request to the editor",
  confirmation: "Question of the gate",
  proposal: "Proposal",
  "change-set": "Changed files",
  plan: "Plan",
  notice: "Notice",
  "turn-end": "End of the turn",
};
