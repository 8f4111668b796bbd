import { ToolFailure } from "@gennai/governance/tool-error";

/** The failure if there is no login for a command. */
export function noKey(message: string): ToolFailure {
  return new ToolFailure("no_key", message, {
    failureClass: "tool_unavailable",
    hint: "Tell the user, who can also run it.",
  });
}
