import { plural } from "@gennai/protocol/plural";
import type { ChangeReport } from "@gennai/provenance/change-report";
import { lineShares, type ReportCell, type ReportTable, reportTables } from "./report-tables.ts";
import { doubtOf, lineKinds, method, rangeOf, shown, summaryOf, title, totalOf } from "./report-words.ts";

/** Most files that get a row; the others are only counted. */
const mostFiles = 200;

/** The report for the description of a pull request. Names are escaped so that they cannot break its structure. */
export function reportMarkdown(report: ChangeReport): string {
  const doubt = doubtOf(report);
  return [
    `## ${title}`,
    "",
    summaryOf(report),
    ...(doubt === undefined ? [] : ["", `> **Not to be relied on.** ${plain(doubt)}`]),
    "",
    `\`${bar(report)}\``,
    "",
    ...table(
      ["new lines", "number", "share"],
      lineShares(report).map(({ name, lines, share }) => [name, String(lines), share]),
    ),
    ...reportTables(report, mostFiles).flatMap(section),
    "",
    `<sub>${rangeOf(report)}. ${method}</sub>`,
    "",
  ].join("\n");
}

/** The shares as one line of characters. */
function bar({ lines }: ChangeReport): string {
  const total = totalOf(lines);
  if (total === 0) return "no new lines";
  const cells = [..."█▓▒◆·"];
  return lineKinds
    .map(({ key }, at) =>
      (cells[at] ?? "").repeat(lines[key] === 0 ? 0 : Math.max(1, Math.round((50 * lines[key]) / total))),
    )
    .join("");
}

function section({ title: name, heading, rows, more }: ReportTable): readonly string[] {
  const isPicture = heading.map((_, at) => rows[0]?.[at]?.type === "picture");
  const cells = rows.map((row) => row.map(cell).filter((_, at) => isPicture[at] === false));
  return [
    "",
    `### ${name}`,
    "",
    ...table(
      heading.filter((_, at) => isPicture[at] === false),
      cells,
    ),
    ...(more === 0 ? [] : ["", `And ${plural(more, "more file")}.`]),
  ];
}

function table(heading: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return [heading, heading.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}

function cell(value: ReportCell): string {
  if (value.type === "words") return value.text;
  if (value.type === "person") return plain(value.text);
  if (value.type === "name") return [code(value.text), ...(value.remarks ?? []).map((each) => `(${each})`)].join(" ");
  if (value.type === "picture") return "";
  return value.isBad === true ? `**${value.number}**` : String(value.number);
}

/** A name as code: in more backticks than it has itself, and without a bar that would end a cell. */
function code(name: string): string {
  const text = shown(name).replaceAll("|", "\\|");
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const space = longest > 0 ? " " : "";
  return `${fence}${space}${text}${space}${fence}`;
}

function plain(text: string): string {
  return shown(text).replaceAll(/[\\`*_{}[\]<>()#+!|~&@:]/g, (character) => `&#${character.charCodeAt(0)};`);
}
