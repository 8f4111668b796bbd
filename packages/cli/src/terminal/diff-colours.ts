import type { Paint } from "./console.ts";
import { terminalSafe } from "./terminal-safe.ts";

/** A unified diff for a person. */
export function colouredDiff(diff: string, paint: Paint): string {
  return diff
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => colouredLine(line, paint))
    .join("\n");
}

export function colouredLine(line: string, paint: Paint): string {
  const text = terminalSafe(line);
  if (line.startsWith("+++") || line.startsWith("---")) return paint("bold", text);
  if (line.startsWith("@@")) return paint("cyan", text);
  if (line.startsWith("+")) return paint("green", text);
  if (line.startsWith("-")) return paint("red", text);
  return text;
}
