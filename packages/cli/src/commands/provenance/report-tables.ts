import type { ChangeReport, LineCounts } from "@gennai/provenance/change-report";
import {
  agentLines,
  answerNames,
  decisionNames,
  lineKindsOf,
  namesPeople,
  sessionNames,
  shareOf,
  totalOf,
  when,
} from "./report-words.ts";

/** Content of a table cell. Names come from records and repositories, so each format must escape them. */
export type ReportCell =
  | { readonly type: "words"; readonly text: string; readonly tone?: "yes" | "no" | "refused" }
  /** Text that a person chose. */
  | { readonly type: "person"; readonly text: string }
  /** A name that is also used elsewhere: of a path, a rule or a model. */
  | { readonly type: "name"; readonly text: string; readonly remarks?: readonly string[] }
  | { readonly type: "number"; readonly number: number; readonly isBad?: boolean }
  /** A picture of counts, for formats that have pictures. */
  | { readonly type: "picture"; readonly counts: LineCounts };

export interface ReportTable {
  readonly title: string;
  readonly heading: readonly string[];
  /** Never empty. */
  readonly rows: readonly (readonly ReportCell[])[];
  /** Number of rows that are left out. */
  readonly more: number;
}

/** The kinds of new lines that there are, with their number and share. */
export function lineShares(report: ChangeReport) {
  const { lines } = report;
  const total = totalOf(lines);
  return lineKindsOf(report)
    .filter(({ key }) => lines[key] > 0)
    .map(({ key, name }) => ({ key, name, lines: lines[key], share: shareOf(lines[key], total) }));
}

/** All tables of a report that have rows, in their order. @param mostFiles rows for files */
export function reportTables(report: ChangeReport, mostFiles: number): readonly ReportTable[] {
  const { writers, intents, decisions, asked, files, isVerificationTold } = report;
  const named = namesPeople(report);
  const tables: readonly ReportTable[] = [
    {
      title: "Written by",
      heading: ["who", "new lines"],
      rows: writers.map(({ name: who, lines }) => [name(who), number(lines)]),
      more: 0,
    },
    {
      title: "Under which intent",
      heading: ["intent", "new lines", "files"],
      rows: intents.map(({ id, lines, files: inFiles }) => [
        id === "" ? words("none was selected") : name(id),
        number(lines),
        number(inFiles),
      ]),
      more: 0,
    },
    {
      title: "How it was allowed",
      heading: ["decision", "new lines"],
      rows: decisions.map(({ type, lines }) => [words(decisionNames[type]), number(lines)]),
      more: 0,
    },
    {
      title: "Questions and refusals since the branch began",
      heading: ["record", "when", "tool", "rule", "answer", ...(named ? ["by"] : []), "session"],
      rows: asked.map(({ seq, time, tool, rule, answer, by, isOfChange }) => [
        words(`#${seq}`),
        words(when(time)),
        name(tool),
        rule === "" ? words("") : name(rule),
        { type: "words", text: answerNames[answer], tone: answer },
        ...(named ? [{ type: "person", text: by } as const] : []),
        words(sessionNames[isOfChange ? "own" : "other"]),
      ]),
      more: 0,
    },
    {
      title: "Files",
      heading: [
        "file",
        "new lines",
        "",
        "of the agent",
        ...(isVerificationTold ? ["not confirmed"] : []),
        "not known",
        "taken out",
      ],
      rows: files
        .slice(0, mostFiles)
        .map(({ path, kind, isText, added, removed }) => [
          name(path, [...(kind === "changed" ? [] : [kind]), ...(isText ? [] : ["no text"])]),
          number(totalOf(added)),
          { type: "picture", counts: added },
          number(agentLines(added)),
          ...(isVerificationTold ? [unconfirmed(added)] : []),
          number(added.unknown),
          number(removed),
        ]),
      more: Math.max(0, files.length - mostFiles),
    },
  ];
  return tables.filter(({ rows }) => rows.length > 0);
}

function unconfirmed({ unverified, failed }: LineCounts): ReportCell {
  return { type: "number", number: unverified + failed, isBad: unverified + failed > 0 };
}

function words(text: string): ReportCell {
  return { type: "words", text };
}

function name(text: string, remarks: readonly string[] = []): ReportCell {
  return { type: "name", text, remarks };
}

function number(value: number): ReportCell {
  return { type: "number", number: value };
}
