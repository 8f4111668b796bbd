import { terminalSafe } from "../../terminal/terminal-safe.ts";

/** Fields of a ledger record that is shown, whatever wrote it. */
export type RecordFields = ReadonlyMap<string, unknown>;

/** The record of a line; undefined if the line is not a record. */
export function parseRecord(line: string): RecordFields | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? fieldsOf(value) : undefined;
  } catch {
    return undefined;
  }
}

/** The fields of an object; empty for anything else. */
export function fieldsOf(value: unknown): RecordFields {
  return new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Safe for a terminal, on one line; empty for what is not text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? terminalSafe(value).replaceAll("\n", " ") : "";
}

/** What a call was about: its command, path, pattern or address, in quotation marks. @param most characters */
export function inputWords(input: unknown, most: number): string {
  const text = typeof input === "string" ? input : input === undefined ? "" : JSON.stringify(input);
  const fields = parseRecord(text) ?? new Map<string, unknown>();
  const named = ["command", "file_path", "path", "pattern", "url"].map((name) => textOf(fields.get(name)));
  const shown = named.find((value) => value !== "") ?? textOf(text);
  if (shown === "") return text === "" ? "" : "(purged)";
  return `“${[...shown].slice(0, most).join("")}${[...shown].length > most ? "…" : ""}”`;
}
