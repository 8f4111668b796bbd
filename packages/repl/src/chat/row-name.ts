import type { ViewItem } from "../model/view-item.ts";

/** What a row of the conversation is called by those who hear it: who or what speaks. Never changes while the row stands. */
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
