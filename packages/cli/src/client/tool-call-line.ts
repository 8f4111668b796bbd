import { terminalSafe } from "../terminal/terminal-safe.ts";

/** Arguments that say by themselves what a call is about, the most telling first. */
const tellingArguments: readonly string[] = ["command", "file_path", "path", "pattern", "query", "url", "summary"];

/** A call in one line: its tool and what it is about. */
export function toolCallLine(name: string, argumentsJson: string, width: number): string {
  const about = terminalSafe(aboutOf(argumentsJson)).replace(/\s+/g, " ").trim();
  const line = about === "" ? terminalSafe(name) : `${terminalSafe(name)} ${about}`;
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
}

function aboutOf(argumentsJson: string): string {
  try {
    const value: unknown = JSON.parse(argumentsJson);
    const fields = new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
    const from: unknown = fields.get("from");
    const to: unknown = fields.get("to");
    // What is moved.
    if (typeof from === "string" && typeof to === "string") return `${from} → ${to}`;
    for (const name of tellingArguments) {
      const field: unknown = fields.get(name);
      if (typeof field === "string" && field !== "") return field;
    }
    const changes: unknown = fields.get("changes");
    if (Array.isArray(changes)) return `${changes.length} ${changes.length === 1 ? "change" : "changes"}`;
    return fields.size === 0 ? "" : JSON.stringify(value);
  } catch {
    return argumentsJson;
  }
}

/** The message in a tool error's JSON, or the text itself. */
export function toolErrorMessage(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && "error" in value) {
      const { error } = value;
      if (typeof error === "object" && error !== null && "message" in error && typeof error.message === "string") {
        return error.message;
      }
    }
  } catch {
    // Not JSON: the text is the message.
  }
  return text;
}
