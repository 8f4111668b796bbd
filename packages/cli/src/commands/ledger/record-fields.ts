import { parsedJson, recordOf } from "@gennai/protocol/json-value";
import { terminalSafe } from "../../terminal/terminal-safe.ts";

/** Safe for a terminal, on one line; empty for what is not text. */
export function oneLine(value: unknown): string {
  return typeof value === "string" ? terminalSafe(value).replaceAll("\n", " ") : "";
}

/** What a call was about: its command, path, pattern or address, in quotation marks. @param most characters */
export function inputWords(input: string, most: number): string {
  const fields = recordOf(parsedJson(input));
  const named = ["command", "file_path", "path", "pattern", "url"].map((name) => oneLine(fields[name]));
  const shown = named.find((value) => value !== "") ?? oneLine(input);
  if (shown === "") return input === "" ? "" : "(purged)";
  return `“${[...shown].slice(0, most).join("")}${[...shown].length > most ? "…" : ""}”`;
}
