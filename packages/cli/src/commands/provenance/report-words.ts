import { spelledOut } from "@gennai/protocol/hidden-characters";
import { plural } from "@gennai/protocol/plural";
import type { ChangeReport, LineCounts } from "@gennai/provenance/change-report";

export const title = "Where this change came from";

/** A kind of lines: what it is called, and its colour on a light and on a dark page. */
export interface LineKind {
  readonly key: keyof LineCounts;
  readonly name: string;
  readonly light: string;
  readonly dark: string;
}

/** In the order in which they are drawn: order and numbers tell them apart without colours. */
export function lineKindsOf({ isVerificationTold }: Pick<ChangeReport, "isVerificationTold">): readonly LineKind[] {
  return isVerificationTold
    ? lineKinds
    : lineKinds.map((kind) => (kind.key === "unverified" ? { ...kind, name: "agent" } : kind));
}

/** Names of the kinds if the report tells whether a write was confirmed. */
export const lineKinds: readonly LineKind[] = [
  { key: "verified", name: "agent, write confirmed", light: "#2563a8", dark: "#6ea8e6" },
  { key: "unverified", name: "agent, write not confirmed", light: "#c77d0a", dark: "#e8a33d" },
  { key: "failed", name: "agent, not as it should be", light: "#b3261e", dark: "#f2716a" },
  { key: "person", name: "a person, recorded", light: "#4b7f52", dark: "#86c08e" },
  { key: "unknown", name: "not known: people's, or nothing says whose", light: "#b9bec6", dark: "#5c636e" },
];

export const decisionNames: Readonly<Record<ChangeReport["decisions"][number]["type"], string>> = {
  allowed: "let run without a question",
  approved: "a person said yes",
  reviewed: "kept by a person in a review",
  planned: "a step of a plan that a person approved",
  person: "done by a person",
  untold: "not told",
};

export const answerNames = { yes: "yes", no: "no", refused: "refused by the rule" } as const;

/** Names for the sessions of questions, by whether they wrote lines of the change. */
export const sessionNames = { own: "wrote lines of this", other: "wrote none of it" } as const;

/** True if any answer has a name: only then there is a column for it. */
export function namesPeople({ asked }: ChangeReport): boolean {
  return asked.some(({ by }) => by !== "");
}

export function totalOf(counts: LineCounts): number {
  return lineKinds.reduce((sum, { key }) => sum + counts[key], 0);
}

export function agentLines({ verified, unverified, failed }: LineCounts): number {
  return verified + unverified + failed;
}

export function shareOf(part: number, all: number): string {
  return all === 0 ? "–" : `${Math.round((100 * part) / all)} %`;
}

/** The text on one line, with hidden characters spelled out. */
export function shown(text: string): string {
  return spelledOut(text).replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

/** The report in a few sentences. */
export function summaryOf({ lines, files, asked, withoutVerification, isVerificationTold }: ChangeReport): string {
  const total = totalOf(lines);
  const agent = agentLines(lines);
  const refusals = asked.filter(({ answer }) => answer !== "yes").length;
  return [
    total === 0
      ? "The commits have no new lines; changes that are not committed are not counted."
      : `Of ${plural(total, "new line")} in ${plural(files.length, "file")}, recorded calls of an agent wrote ${agent} (${shareOf(agent, total)}).`,
    asked.length === 0 ? "Nobody was asked, and nothing was refused." : decisionsOf(asked.length - refusals, refusals),
    agent === 0 ? "No new line is known to be from an agent." : "",
    agent === 0 || !isVerificationTold
      ? ""
      : withoutVerification.length === 0
        ? "After each write of the agent, it was confirmed that the file has it; whether it works, a check says."
        : `In ${plural(withoutVerification.length, "file")}, writes of the agent were not confirmed.`,
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

/** Why the figures cannot be relied on; undefined when they can. */
export function doubtOf({ trust }: ChangeReport): string | undefined {
  if (trust.status === "ok" && trust.source !== "bundle-own-key") return undefined;
  if (trust.source === "bundle-own-key") return "The bundle was checked with its own key alone.";
  return `The signed ledger behind this report is not as it was signed (${trust.status}): ${trust.message}`;
}

/** A record's time for people. Anything else becomes “no time”, so that no other text of a record gets into the report. */
export function when(time: string): string {
  const at = new Date(time);
  return Number.isNaN(at.getTime()) ? "no time" : `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** The two commits of the report, and when it was made. */
export function rangeOf({ from, to, made }: ChangeReport): string {
  return `${from.slice(0, 12)}..${to.slice(0, 12)}, ${when(made)}`;
}

/** How the report was made; for its readers. */
export const method =
  "Lines are known by their text, in what the signed ledger says that calls wrote; what is not known is said as not known, and never guessed. " +
  "This report has no prompts, answers or file texts. It says who agreed only if that was chosen.";

function decisionsOf(agreed: number, refused: number): string {
  const yes = agreed === 0 ? [] : [`${plural(agreed, "question")} had a yes`];
  const no = refused === 0 ? [] : [`${plural(refused, "call")} ${refused === 1 ? "was" : "were"} refused`];
  return `Since the branch began, ${[...yes, ...no].join(", and ")}.`;
}
