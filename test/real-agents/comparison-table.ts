import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as z from "zod";

/** What became of a command: its effect, one that only a copy has, or none. */
export const effect = z.enum(["yes", "on a copy", "no"]);
export type Effect = z.infer<typeof effect>;

const row = z.object({
  id: z.string(),
  name: z.string(),
  version: z.string(),
  /** Day on which it was tried, e.g. `2026-11-30`. */
  tried: z.string(),
  /** By command, in the order of the columns. */
  effects: z.record(z.string(), effect),
});
export type Row = z.infer<typeof row>;

const recorded = fileURLToPath(new URL("comparison.json", import.meta.url));
export const comparisonPage = fileURLToPath(new URL("../../docs/comparison.md", import.meta.url));

const begin = "<!-- by npm run compare -->";
const end = "<!-- end -->";

export function readRows(): readonly Row[] {
  return z.array(row).parse(JSON.parse(readFileSync(recorded, "utf8")));
}

/** Puts rows in the place of those of the same agents, and the table into the page. @param order of agents, by id */
export function writeRows(rows: readonly Row[], order: readonly string[]): void {
  const ids = new Set(rows.map(({ id }) => id));
  const all = [...readRows().filter(({ id }) => !ids.has(id)), ...rows];
  all.sort((one, other) => order.indexOf(one.id) - order.indexOf(other.id));
  writeFileSync(recorded, `${JSON.stringify(all, null, 2)}\n`);
  writeFileSync(comparisonPage, withTable(readFileSync(comparisonPage, "utf8"), all));
}

/** The page with the table of these rows. */
export function withTable(page: string, rows: readonly Row[]): string {
  const [before = "", after = ""] = page.split(begin);
  const rest = after.slice(after.indexOf(end));
  return `${before}${begin}\n\n${tableOf(rows)}\n${rest}`;
}

function tableOf(rows: readonly Row[]): string {
  const columns = Object.keys(rows[0]?.effects ?? {});
  const lines = [
    ["agent", "tried", ...columns],
    ...rows.map(({ name, version, tried, effects }) => [
      `${name} ${version}`,
      tried,
      ...columns.map((column) => cell(column, effects[column])),
    ]),
  ];
  const widths = (lines[0] ?? []).map((_title, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const [head = "", ...body] = lines.map(
    (line) => `| ${line.map((text, at) => text.padEnd(widths[at] ?? 0)).join(" | ")} |\n`,
  );
  return [head, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |\n`, ...body].join("");
}

function cell(column: string, became: Effect | undefined): string {
  if (became === undefined) return "-";
  if (became === "on a copy") return "on a copy; not kept";
  if (became === "no") return "refused";
  if (column.startsWith("reads")) return "**yes, the model got it**";
  return column === "writes a file in the project" ? "yes" : "**yes**";
}
