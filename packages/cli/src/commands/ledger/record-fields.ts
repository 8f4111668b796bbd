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
