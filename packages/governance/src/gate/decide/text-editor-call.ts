import { parseStrictJson } from "@gennai/protocol/strict-json";
import type { ToolCall } from "../../gate-journal.ts";

/** The names of the text editor that Anthropic's API defines, as Claude, SWE-agent and OpenHands call it. */
const names: ReadonlySet<string> = new Set([
  "str_replace_based_edit_tool",
  "str_replace_based_edit",
  "str_replace_editor",
]);

const maxArguments = 64 * 1024 * 1024;

/**
 * A call of the text editor of others, which is several tools in one, as a call of the tool that does the same here; any other
 * call as it is. Edit makes one of texts from what is inserted by a line's number, once it sees the file.
 */
export function textEditorCall(call: ToolCall): ToolCall {
  if (!names.has(call.name.toLowerCase())) return call;
  const args = argumentsOf(call.argumentsJson);
  if (args === undefined) return call;
  const { command, ...given } = args;
  // Unknown arguments keep their names, and so do those given under both names: the tool's schema refuses them.
  const made = (name: string, usual: Readonly<Record<string, string>>, usually = {}): ToolCall => {
    const names = new Map(Object.entries({ path: "file_path", ...usual }));
    const renamed = Object.entries(given).map(([key, value]) => {
      const own = names.get(key);
      return own === undefined || own in given ? [key, value] : [own, value];
    });
    return { ...call, name, argumentsJson: JSON.stringify({ ...usually, ...Object.fromEntries(renamed) }) };
  };
  switch (command) {
    case "view":
      return made("Read", {});
    case "create":
      return made("Write", { file_text: "content" });
    case "str_replace":
      return made("Edit", { old_str: "old_string", new_str: "new_string" }, { new_string: "" });
    case "insert":
      return made("Edit", { ["insert_text" in given ? "insert_text" : "new_str"]: "new_string" });
    default:
      return call;
  }
}

/** Without what is `null`, as some write what they leave out; undefined for what is not an object. */
function argumentsOf(json: string): Record<string, unknown> | undefined {
  try {
    const value = parseStrictJson(json, { maxLength: maxArguments, maxDepth: 64 });
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));
  } catch {
    return undefined;
  }
}
