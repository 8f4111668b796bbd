import type { ToolCallItem } from "@gennai/client/view/view-item";
import type { IconName } from "../../look/icon.tsx";

/** Arguments that say best what a call is about; the first one that exists is shown. */
const telling = ["command", "file_path", "path", "pattern", "query", "url", "title", "intent_id", "name", "prompt"];

export interface ToolArgument {
  readonly name: string;
  readonly value: string;
  /** True for text that is long or has several lines. */
  readonly large: boolean;
}

/** undefined if the arguments are incomplete or no object. */
function parsed(argumentsJson: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(argumentsJson);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The call's arguments for people; undefined if only the raw text can be shown. */
export function toolArguments(argumentsJson: string): readonly ToolArgument[] | undefined {
  const values = parsed(argumentsJson === "" ? "{}" : argumentsJson);
  if (values === undefined) return undefined;
  return Object.entries(values).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 1);
    return { name, value: text, large: text.includes("\n") || text.length > 80 };
  });
}

/** One line about what the call does; empty if no argument tells it. */
export function toolSubject({ argumentsJson }: Pick<ToolCallItem, "argumentsJson">): string {
  const values = parsed(argumentsJson) ?? partial(argumentsJson);
  // What is moved.
  if (typeof values["from"] === "string" && typeof values["to"] === "string")
    return `${values["from"]} → ${values["to"]}`;
  for (const name of telling) {
    const value = values[name];
    if (typeof value === "string" && value !== "") return value.split("\n", 1)[0] ?? "";
  }
  return "";
}

/** The command that a call runs; undefined for calls that run none. */
export function commandOf({ name, argumentsJson }: Pick<ToolCallItem, "name" | "argumentsJson">): string | undefined {
  if (toolIcon(name) !== "terminal") return undefined;
  const command = (parsed(argumentsJson) ?? partial(argumentsJson))["command"];
  return typeof command === "string" && command !== "" ? command : undefined;
}

/** What the call is for, in the model's words, as one line; empty if it gave none. */
export function toolDescription({ argumentsJson }: Pick<ToolCallItem, "argumentsJson">): string {
  const description = (parsed(argumentsJson) ?? partial(argumentsJson))["description"];
  return typeof description === "string" ? (description.split("\n", 1)[0] ?? "") : "";
}

/** The file that a call is about, for a link. */
export function toolPath({ argumentsJson }: Pick<ToolCallItem, "argumentsJson">): string | undefined {
  const path = parsed(argumentsJson)?.["file_path"];
  return typeof path === "string" && path !== "" ? path : undefined;
}

/** Complete strings in arguments that the model is still writing. */
function partial(argumentsJson: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [, name = "", text = '""'] of argumentsJson
    .slice(0, 2000)
    .matchAll(/"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*")/g)) {
    try {
      found[name] ??= String(JSON.parse(text));
    } catch {}
  }
  return found;
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
