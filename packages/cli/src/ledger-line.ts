import type { Paint } from "./console.ts";
import { terminalSafe } from "./terminal-safe.ts";

/** A record in a line: seq, time, kind, what was called with which verdict, which files. Old records show what they have. */
export function describeRecord(line: string, paint: Paint): string {
  const record = parse(line);
  if (record === undefined) return paint("red", `(no record) ${terminalSafe(line.slice(0, 100))}`);
  const metadata = fieldsOf(record.get("metadata"));
  const calls = listOf(metadata.get("calls")).map((call) => {
    const fields = fieldsOf(call);
    return `${textOf(fields.get("tool"))} ${textOf(fields.get("verdict"))}`.trim();
  });
  const files = listOf(record.get("files")).map((file) => textOf(fieldsOf(file).get("path")));
  const seq = metadata.get("seq");
  return [
    (typeof seq === "number" ? String(seq) : "-").padStart(5),
    textOf(record.get("timestamp")).slice(0, 19),
    paint("cyan", textOf(metadata.get("kind")).padEnd(8)),
    [...calls, ...files].filter((part) => part !== "").join(", "),
  ].join("  ");
}

function parse(line: string): ReadonlyMap<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? fieldsOf(value) : undefined;
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(typeof value === "object" && value !== null ? Object.entries(value) : []);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? terminalSafe(value).replaceAll("\n", " ") : "";
}
