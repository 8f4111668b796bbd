import type { ViewItem } from "@gennai/client/view/items/view-item";

/** Whether an item can change no more, so that it can be shown once and for all. What is taken back later is told anew. */
export function isSettled(item: ViewItem): boolean {
  switch (item.kind) {
    case "thinking":
    case "assistant":
      return !item.streaming;
    case "tool-call":
      return !["writing", "waiting", "running"].includes(item.status);
    case "client-request":
    case "confirmation":
      return item.state !== "open";
    case "user-message":
    case "proposal":
    case "change-set":
    case "plan":
    case "notice":
    case "turn-end":
      return true;
  }
}
