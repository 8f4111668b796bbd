import { callSubject } from "@gennai/client/view/call-subject";
import { terminalSafe } from "../terminal/terminal-safe.ts";

/** A call in one line: its tool and what it is about. */
export function toolCallLine(name: string, argumentsJson: string, width: number): string {
  const subject = callSubject(argumentsJson) || (argumentsJson === "{}" ? "" : argumentsJson);
  const about = terminalSafe(subject).replace(/\s+/g, " ").trim();
  const line = about === "" ? terminalSafe(name) : `${terminalSafe(name)} ${about}`;
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`;
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
