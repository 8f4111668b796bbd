import type { HunkDecision } from "@gennai/protocol/apply-review";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { Hunk, Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { plural } from "@gennai/protocol/plural";
import type { DecidedHunk } from "@gennai/protocol/whole-moves";
import { asCliError } from "../terminal/cli-error.ts";
import { colouredDiff, colouredLine, type Paint } from "../terminal/colours.ts";
import { editText } from "../terminal/edit-text.ts";
import type { LineInput } from "../terminal/line-input.ts";
import { decideEach, type NamedHunk, namedHunks } from "./hunk-selection.ts";

/** Lines of a diff as a person has to see them: what hides is spelled, and a carriage return at the end of a line is left out. */
export function reviewed(lines: string): string {
  return spelledOut(lines.replaceAll(/\r(?=\n|$)/g, ""));
}

/** All of a proposal as diffs. */
export function describeProposal(proposal: Proposal, paint: Paint): string {
  const count = namedHunks(proposal).length;
  const lines = [
    paint(
      "bold",
      `Proposed: ${plural(proposal.changes.length, "file")}, ${plural(count, "hunk")}. Nothing is written yet.`,
    ),
    ...proposal.warnings.map((warning) => paint("yellow", `warning: ${spelledOut(warning)}`)),
  ];
  for (const change of proposal.changes) {
    if (change.conflict)
      lines.push(paint("red", `conflict in ${spelledOut(change.path)}: ${spelledOut(change.warning)}`));
    else if (change.warning !== "")
      lines.push(paint("yellow", `${spelledOut(change.path)}: ${spelledOut(change.warning)}`));
    lines.push(...origin(change).map((line) => paint("dim", `${spelledOut(change.path)}: ${line}`)));
    lines.push(colouredDiff(reviewed(change.unifiedDiff), paint));
  }
  return `${lines.join("\n")}\n`;
}

/** Which commands made the change, and where the file was moved from. */
function origin({ commands = [], movedFrom }: ProposedChange): readonly string[] {
  return [
    ...(movedFrom === undefined ? [] : [`moved from ${spelledOut(movedFrom)}`]),
    ...(commands.length === 0 ? [] : [changedBy(commands)]),
  ];
}

/** Characters of a command that are shown. */
const maxCommand = 80;

function changedBy(commands: readonly string[]): string {
  const shown = commands.map((command) => {
    const line = command.replaceAll(/\s+/g, " ");
    return `\`${spelledOut(line.length > maxCommand ? `${line.slice(0, maxCommand).toWellFormed()}…` : line)}\``;
  });
  return `changed by ${shown.join(", ")}`;
}

/** Asks about each hunk. undefined: the user left the review, and nothing is decided. */
export async function reviewAtTerminal(
  proposal: Proposal,
  options: {
    readonly input: Pick<LineInput, "question" | "suspend">;
    readonly write: (text: string) => void;
    readonly paint: Paint;
    readonly environment: NodeJS.ProcessEnv;
    readonly signal: AbortSignal;
    /** Ids of changes that "all the rest" does not keep. */
    readonly apart?: ReadonlySet<string>;
  },
): Promise<readonly DecidedHunk[] | undefined> {
  const { input, write, paint, signal, apart } = options;
  const hunks = namedHunks(proposal);
  const decided = new Map<NamedHunk, HunkDecision>();
  let rest: HunkDecision | undefined;
  write("y keep · n [reason] refuse · e edit · a keep all the rest · d refuse all the rest · q quit, apply nothing\n");
  for (const hunk of hunks) {
    // A conflict is never kept.
    if (hunk.change.conflict) decided.set(hunk, { type: "undo", note: "conflict" });
    else if (rest !== undefined && decidesToo(rest, hunk)) decided.set(hunk, rest);
    while (!decided.has(hunk)) {
      write(`\n${describeHunk(hunk, paint)}\n`);
      const line = await input.question(`keep ${spelledOut(hunk.name)}? [y/n/e/a/d/q] `, { signal });
      const answer = readReviewAnswer(line);
      switch (answer.type) {
        case "quit":
          return undefined;
        case "rest":
          rest = answer.decision;
          if (decidesToo(rest, hunk)) decided.set(hunk, rest);
          else write("A rule refuses this one: answer y or n.\n");
          break;
        case "one":
          decided.set(hunk, answer.decision);
          break;
        case "edit": {
          const shown = hunkOf(hunk);
          if (shown === undefined) write("There is nothing to edit here: answer y or n.\n");
          const edited = shown && (await editHunk(shown, hunk.change.path, options));
          if (edited !== undefined) decided.set(hunk, edited);
          break;
        }
        case "unclear":
          write("Type y, n, e, a, d or q.\n");
      }
    }
  }
  return decideEach(hunks, (hunk) => decided.get(hunk) ?? { type: "undo" });

  function decidesToo(decision: HunkDecision, { change }: NamedHunk): boolean {
    return decision.type === "undo" || apart?.has(change.id) !== true;
  }
}

export type ReviewAnswer =
  | { readonly type: "one" | "rest"; readonly decision: HunkDecision }
  | { readonly type: "edit" | "quit" | "unclear" };

export function readReviewAnswer(line: string | undefined): ReviewAnswer {
  if (line === undefined) return { type: "quit" };
  const [, letter, reason] = /^\s*([a-z]+)\s*(.*)$/is.exec(line) ?? [];
  const note = (reason ?? "").trim();
  switch (letter?.toLowerCase()) {
    case "n":
    case "no":
      return { type: "one", decision: note === "" ? { type: "undo" } : { type: "undo", note } };
    case "y":
    case "yes":
      return note === "" ? { type: "one", decision: { type: "keep" } } : { type: "unclear" };
    case "a":
      return note === "" ? { type: "rest", decision: { type: "keep" } } : { type: "unclear" };
    case "d":
      return { type: "rest", decision: note === "" ? { type: "undo" } : { type: "undo", note } };
    case "e":
      return { type: "edit" };
    case "q":
      return { type: "quit" };
    default:
      return { type: "unclear" };
  }
}

function describeHunk(named: NamedHunk, paint: Paint): string {
  const hunk = hunkOf(named);
  const { operation, path, warning, unifiedDiff } = named.change;
  const warned = warning === "" ? [] : [paint("yellow", spelledOut(warning))];
  if (hunk === undefined) {
    const whole = unifiedDiff === "" ? [] : [colouredDiff(reviewed(unifiedDiff), paint)];
    return [paint("bold", spelledOut(`${operation} ${path}`)), ...warned, ...whole].join("\n");
  }
  const { oldRange, newRange } = hunk;
  const title = `${named.name} @@ -${oldRange.start},${oldRange.count} +${newRange.start},${newRange.count} @@`;
  const made = hunk.commands === undefined ? [] : [paint("dim", changedBy(hunk.commands))];
  const lines = hunk.lines.map((line) => hunkLine(reviewed(line), paint));
  return [paint("bold", spelledOut(title)), ...warned, ...made, ...lines].join("\n");
}

/** The text of a hunk's line may begin with `--`: only the line's first character counts here. */
export function hunkLine(line: string, paint: Paint): string {
  return line.startsWith("+") || line.startsWith("-")
    ? paint(line.startsWith("+") ? "green" : "red", line)
    : colouredLine(line, paint);
}

/** Has a person edit the new text of a hunk; undefined: the editor failed, which is said. */
export async function editHunk(
  hunk: Hunk,
  path: string,
  options: {
    readonly input: Pick<LineInput, "suspend">;
    readonly write: (text: string) => void;
    readonly environment: NodeJS.ProcessEnv;
  },
): Promise<HunkDecision | undefined> {
  const before = hunk.lines
    .filter((line) => !line.startsWith("-"))
    .map((line) => `${line.slice(1).replace(/\r$/, "")}\n`)
    .join("");
  using _terminal = options.input.suspend();
  try {
    const text = await editText(before, path, options.environment);
    if (text === undefined) options.write("The editor ended with an error; the hunk is still undecided.\n");
    return text === undefined ? undefined : { type: "edited", text };
  } catch (error) {
    const { message, next } = asCliError(error);
    options.write(`${[message, ...next].join(" ")}\n`);
    return undefined;
  }
}

function hunkOf(named: NamedHunk): Hunk | undefined {
  return named.change.hunks.find((hunk) => hunk.id === named.hunkId);
}
