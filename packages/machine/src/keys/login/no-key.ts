import { ToolFailure } from "@gennai/governance/tool-error";

/** There is no login for what a command wants. */
export function noKey(message: string): ToolFailure {
  return new ToolFailure("no_key", message, {
    failureClass: "tool_unavailable",
    hint: "Tell the user, who can also run it.",
  });
}
