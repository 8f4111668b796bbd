import type { ToolCallItem } from "@gennai/client/view/items/view-item";
import { toolIcon } from "../chat/tool-words.ts";

/** Text about a call's exit code; an unknown exit code is not shown as success. */
export function exitWords({
  name,
  result,
}: ToolCallItem): { readonly words: string; readonly tone: string } | undefined {
  if (result === undefined) return undefined;
  if (result.exitCode !== undefined) {
    return { words: `exit ${result.exitCode}`, tone: result.exitCode === 0 ? "badge" : "badge badge-bad" };
  }
  const ranCommand = toolIcon(name) === "terminal" && result.error === "";
  return ranCommand ? { words: "exit unknown", tone: "badge badge-ask" } : undefined;
}
