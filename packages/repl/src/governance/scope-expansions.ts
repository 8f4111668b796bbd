import type { ToolCallStatus } from "@gennai/client/view/items/view-item";
import type { SessionView } from "@gennai/client/view/session-view";
import type { ScopeExpansion } from "./intents-section.tsx";

/** What the model asked for beyond the scope of its intent, oldest first. */
export function scopeExpansions(view: SessionView): readonly ScopeExpansion[] {
  // Read to subscribe to new items.
  if (view.count.value === 0) return [];
  return view.scopeRequests.map(({ call, intentId }) => {
    const { callId, argumentsJson, status } = call.item.value;
    const { paths, reason } = wanted(argumentsJson);
    return { requestId: callId, intentId, paths, reason, state: stateOf(status) };
  });
}

function stateOf(status: ToolCallStatus): ScopeExpansion["state"] {
  if (status === "writing" || status === "waiting") return "open";
  return status === "done" || status === "running" ? "granted" : "refused";
}

function wanted(argumentsJson: string): Pick<ScopeExpansion, "paths" | "reason"> {
  let value: unknown;
  try {
    value = JSON.parse(argumentsJson);
  } catch {
    // The model is still writing the arguments.
  }
  const field = (name: string): unknown =>
    typeof value === "object" && value !== null ? Reflect.get(value, name) : "";
  const paths = field("paths");
  const reason = field("reason");
  return {
    paths: Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [],
    reason: typeof reason === "string" ? reason : "",
  };
}
