import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { droppedForRest } from "@gennai/protocol/model/governance/offered-parts";
import { explanationsOf, type OfferedPart, type OfferedPattern } from "@gennai/protocol/model/governance/question";
import { colouredDiff, colouredRisk, type Paint } from "../terminal/colours.ts";
import type { AskOptions } from "./ask-user-at-terminal.ts";
import { readAnswer } from "./read-answer.ts";

/** The question as a person sees it: the action, then what the server computed and what the model claims, apart. */
export function describeQuestion(question: ConfirmationQuestion, paint: Paint): string {
  const { computed } = question;
  const risk = colouredRisk(computed.risk, paint);
  const lines = [
    `${paint("bold", spelledOut(question.title))}  ${risk}`,
    entry("action", question.actionStatement),
    ...explanationsOf(question).map(({ name, text }) => entry(name, text)),
    paint("underline", "What the server found"),
    entry("reason", computed.reason),
    entry("rule", computed.rule),
    ...(question.parts === undefined ? [entry("paths", computed.paths.join(", "))] : describeParts(question.parts)),
    question.diff === undefined ? "" : colouredDiff(spelledOut(question.diff), paint),
    entry("exactly", question.actionJson),
    entry("holds", question.rememberStatement),
    ...patternsOf(question).flatMap(describePattern),
    ...(question.modelClaim === ""
      ? []
      : [
          paint("underline", "Claimed by the model"),
          paint(["italic", "dim"], entry("claim", `“${question.modelClaim}”`)),
        ]),
  ];
  return `${lines.filter((line) => line !== "").join("\n")}\n`;
}

/** Asks at the terminal. */
export async function confirmAtTerminal(
  question: ConfirmationQuestion,
  options: AskOptions,
): Promise<ConfirmationReply> {
  options.write(`\n${describeQuestion(question, options.paint)}`);
  const rest = question.parts && droppedForRest(question.parts);
  const choices = [
    question.parts === undefined ? "y yes" : "y keep all",
    ...(rest === undefined ? [] : ["r keep only the rest, without what this question is about"]),
    ...(question.offeredScopes.includes("turn") ? ["t for this turn"] : []),
    ...(question.offeredScopes.includes("session") ? ["s for this session"] : []),
    ...(question.offeredScopes.includes("workspace") ? ["w for this workspace"] : []),
    ...patternsOf(question).map((_pattern, index) => `t${index + 1} or s${index + 1} for pattern ${index + 1}`),
    "n [reason]",
  ];
  if (question.deadline !== undefined) {
    const seconds = Math.max(0, Math.round((question.deadline.getTime() - Date.now()) / 1000));
    const time = seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
    options.write(options.paint("dim", `Without an answer within ${time} it is refused.\n`));
  }
  const line = await options.input.question(`${choices.join(" · ")} > `, { signal: options.signal });
  if (line === undefined && !options.signal.aborted)
    options.write("\nThe input ended before an answer: that is a no.\n");
  return readAnswer(line, question);
}

function patternsOf(question: ConfirmationQuestion): readonly OfferedPattern[] {
  return (question.patterns ?? []).slice(0, 9);
}

/** What is asked about, by rule, and what needs no question. */
function describeParts(parts: readonly OfferedPart[]): readonly string[] {
  const asked = Map.groupBy(
    parts.filter(({ rule }) => rule !== ""),
    ({ rule, reason }) => `${reason} (${rule})`,
  );
  const silent = parts.filter(({ rule }) => rule === "").map(({ name }) => name);
  return [
    ...[...asked].flatMap(([why, about]) => [entry("asked", about.map(({ name }) => name).join(", ")), entry("", why)]),
    entry("rest", silent.join(", ")),
  ];
}

/** What would need no question after a yes to the pattern, and what still would. */
function describePattern(pattern: OfferedPattern, index: number): readonly string[] {
  const { text, rule, matchedBefore, wouldMatch, wouldNotMatch } = pattern;
  const before =
    matchedBefore.length === 0 ? "nothing in this session so far" : `in this session so far: ${listed(matchedBefore)}`;
  return [
    entry(`pattern ${index + 1}`, text),
    entry("", `answers ${rule}`),
    entry("", `covers ${before}`),
    entry("", wouldMatch.length === 0 ? "" : `also covers: ${listed(wouldMatch)}`),
    entry("", wouldNotMatch.length === 0 ? "" : `never covers: ${listed(wouldNotMatch)}`),
  ];
}

function listed(texts: readonly string[]): string {
  return texts.map((text) => `“${text}”`).join(", ");
}

function entry(name: string, text: string): string {
  if (text === "") return "";
  const [first, ...rest] = text.split("\n").map(spelledOut);
  return [
    `  ${name.length > 7 ? `${name}  ` : name.padEnd(8)}${first}`,
    ...rest.map((line) => `          ${line}`),
  ].join("\n");
}
