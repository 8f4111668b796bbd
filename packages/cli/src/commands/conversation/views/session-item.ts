import type { SessionSummary } from "@gennai/client/session/session-summary";
import type { PickerItem } from "./picker.ts";

/** A session as a row to choose. */
export function sessionItem({ sessionId, title, updated }: SessionSummary): PickerItem {
  return { value: sessionId, label: title || sessionId, description: updated.slice(0, 16).replace("T", " ") };
}
