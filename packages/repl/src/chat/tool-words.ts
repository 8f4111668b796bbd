import { callArguments } from "@gennai/client/view/call-subject";
import type { ToolCallItem } from "@gennai/client/view/items/view-item";
import { isRecord, parsedJson, recordOf } from "@gennai/protocol/json-value";
import type { IconName } from "../look/icon.tsx";

export interface ToolArgument {
  readonly name: string;
  readonly value: string;
  /** True for text that is long or has several lines. */
  readonly large: boolean;
}

/** The call's arguments for people; undefined if only the raw text can be shown. */
export function toolArguments(argumentsJson: string): readonly ToolArgument[] | undefined {
  const values = parsedJson(argumentsJson === "" ? "{}" : argumentsJson);
  if (!isRecord(values)) return undefined;
  return Object.entries(values).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 1);
    return { name, value: text, large: text.includes("\n") || text.length > 80 };
  });
}

/** The command that a call runs; undefined for calls that run none. */
export function commandOf({ name, argumentsJson }: Pick<ToolCallItem, "name" | "argumentsJson">): string | undefined {
  if (toolIcon(name) !== "terminal") return undefined;
  const { command } = callArguments(argumentsJson);
  return typeof command === "string" && command !== "" ? command : undefined;
}

/** What the call is for, in the model's words, as one line; empty if it gave none. */
export function toolDescription({ argumentsJson }: Pick<ToolCallItem, "argumentsJson">): string {
  const { description } = callArguments(argumentsJson);
  return typeof description === "string" ? (description.split("\n", 1)[0] ?? "") : "";
}

/** The file that a call is about, for a link. */
export function toolPath({ argumentsJson }: Pick<ToolCallItem, "argumentsJson">): string | undefined {
  const path = recordOf(parsedJson(argumentsJson))["file_path"];
  return typeof path === "string" && path !== "" ? path : undefined;
}

export function toolIcon(name: string): IconName {
  const lower = name.toLowerCase();
  if (/bash|command|terminal|exec/.test(lower)) return "terminal";
  if (/edit|write|patch|delete|move/.test(lower)) return "edit";
  if (/grep|glob|search|find/.test(lower)) return "search";
  if (/read|list|view/.test(lower)) return "file";
  if (/todo/.test(lower)) return "checklist";
  if (/intent|lesson|scope/.test(lower)) return "shield";
  return "tools";
}

const classes: Record<string, string> = {
  permission_denied: "not permitted",
  tool_unavailable: "tool not available",
  command_error: "the command failed",
  timeout: "took too long",
  partial_execution: "done only in part",
};

export function failureWords(failureClass: string): string {
  return classes[failureClass] ?? failureClass.replaceAll("_", " ");
}
