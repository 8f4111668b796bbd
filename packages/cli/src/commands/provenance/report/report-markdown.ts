import type { ChangeReport } from "@gennai/store/provenance/report/change-report";
import {
  agentLines,
  answerNames,
  decisionNames,
  doubtOf,
  lineKinds,
  method,
  namesPeople,
  sessionNames,
  shareOf,
  shown,
  summaryOf,
  totalOf,
  when,
} from "./report-words.ts";

/** Files in the table; of the rest there is only the number. */
const mostFiles = 200;

/** For the description of a pull request. Names cannot end what they stand in. */
export function reportMarkdown(report: ChangeReport): string {
  const { from, to, lines, files, writers, intents, decisions, asked } = report;
  const total = totalOf(lines);
  const doubt = doubtOf(report);
  const named = namesPeople(report);
  return [
    "## Where this change came from",
    "",
    summaryOf(report),
    ...(doubt === undefined ? [] : ["", `> **Not to be relied on.** ${plain(doubt)}`]),
    "",
    `\`${bar(report)}\``,
    "",
    ...table(
      ["new lines", "number", "share"],
      lineKinds
        .filter(({ key }) => lines[key] > 0)
        .map(({ key, name }) => [name, String(lines[key]), shareOf(lines[key], total)]),
    ),
    ...section(
      "Written by",
      ["who", "new lines"],
      writers.map(({ name, lines: each }) => [code(name), String(each)]),
    ),
    ...section(
      "Under which intent",
      ["intent", "new lines", "files"],
      intents.map((each) => [
        each.id === "" ? "none was selected" : code(each.id),
        String(each.lines),
        String(each.files),
      ]),
    ),
    ...section(
      "How it was let happen",
      ["decision", "new lines"],
      decisions.map(({ type, lines: each }) => [decisionNames[type], String(each)]),
    ),
    ...section(
      "Questions and refusals since the branch began",
      ["record", "when", "tool", "rule", "answer", ...(named ? ["by"] : []), "session"],
      asked.map(({ seq, time, tool, rule, answer, by, isOfChange }) => [
        `#${seq}`,
        when(time),
        code(tool),
        rule === "" ? "" : code(rule),
        answerNames[answer],
        ...(named ? [plain(by)] : []),
        sessionNames[isOfChange ? "own" : "other"],
      ]),
    ),
    ...section(
      "Files",
      ["file", "new lines", "of the agent", "without verification", "not known", "taken out"],
      files
        .slice(0, mostFiles)
        .map(({ path, kind, isText, added, removed }) => [
          `${code(path)}${kind === "changed" ? "" : ` (${kind})`}${isText ? "" : ", no text"}`,
          String(totalOf(added)),
          String(agentLines(added)),
          added.unverified + added.failed === 0 ? "" : `**${added.unverified + added.failed}**`,
          String(added.unknown),
          String(removed),
        ]),
    ),
    ...(files.length > mostFiles ? ["", `And ${files.length - mostFiles} more.`] : []),
    "",
    `<sub>${from.slice(0, 12)}..${to.slice(0, 12)}, ${when(report.made)}. ${method}</sub>`,
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

function section(title: string, heading: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return rows.length === 0 ? [] : ["", `### ${title}`, "", ...table(heading, rows)];
}

function table(heading: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return [heading, heading.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
}

/** A name as code: with more backticks around it than it has, and no bar that would end a cell. */
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
