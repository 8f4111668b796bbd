import type { EventDraft } from "@gennai/store/log/session-log";

/** Two consecutive deltas of one item, merged; undefined if they cannot be. */
export function mergeDeltas<Event extends EventDraft>(first: Event, second: Event): Event | undefined {
  if (first.itemId === "" || first.itemId !== second.itemId || first.turnId !== second.turnId) return undefined;
  const [a, b] = [first.event, second.event];
  switch (a.type) {
    case "thinking-delta":
    case "text-delta":
      return b.type === a.type ? { ...second, event: { ...a, text: a.text + b.text } } : undefined;
    case "tool-call-delta":
    case "tool-output-delta":
      return b.type === a.type && b.id === a.id ? { ...second, event: { ...a, text: a.text + b.text } } : undefined;
    default:
      return undefined;
  }
}
