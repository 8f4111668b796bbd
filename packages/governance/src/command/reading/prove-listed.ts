import type { AnalysisReport } from "../analysis-report.ts";
import { type Invocation, type Place, targetsOf } from "../invocation.ts";
import { type ParsedOptions, parseOptions } from "../option-spec.ts";
import { isWithin } from "../resolve-path.ts";
import type { ResolvedWord } from "../resolve-word.ts";
import { checkGlob } from "./check-glob.ts";
import type { ReadingProgram } from "./reading-programs.ts";

/** Whether a program of the table provably reads as it is called here: by its row alone. */
export function proveListed(
  program: ReadingProgram,
  invocation: Invocation,
  report: AnalysisReport,
  place: Place,
): boolean {
  const { words } = invocation;
  const anyOption = program.options === "any";
  const access = program.operands === "names" ? "list" : "read";
  const isPath = program.operands === "content" || program.operands === "names";
  const parsed: ParsedOptions = anyOption ? anyOptions(words) : parseOptions(words, program.options);
  let proven = parsed.unknown === undefined;
  if (program.refused !== undefined && words.some((word) => program.refused?.test(word.literal ?? ""))) proven = false;
  let operands = parsed.operands;
  if (program.pattern && !parsed.values.some((value) => value.kind === "pattern") && !filesOnly(parsed)) {
    const [first, ...rest] = operands;
    if (first !== undefined && program.refusedPattern?.test(first.literal ?? "")) proven = false;
    if (first !== undefined && first.kind === "glob" && /^[*?[]/.test(first.raw)) proven = false;
    if (program.refusedPattern !== undefined && first !== undefined && first.literal === undefined) proven = false;
    operands = rest;
  }
  for (const { kind, word } of parsed.values) {
    if (kind === "path") report.path(word, "read", invocation);
    else if (kind === "glob") proven = checkGlob(word, report) && proven;
    else if (anyOption && isPath) report.path(word, access, invocation);
  }
  if (words.length < (program.atLeast ?? 0)) proven = false;
  if (program.operands === "none" && operands.length > 0) proven = false;
  // A wildcard, or a choice, may come out as one word too many.
  if (program.maximum !== undefined && operands.some((word) => word.kind !== "literal")) proven = false;
  if (program.maximum !== undefined && operands.length > program.maximum) proven = false;
  if (isPath) {
    for (const word of operands) {
      report.path(word, access, invocation);
      if (word.kind === "dynamic" && !program.anyOperand) proven = false;
      if (/^\\\\|^\/\/[^/]/.test(word.literal ?? word.raw) || /^\\\\/.test(word.raw))
        report.unresolved("a path of another machine");
      // A file may be named like an option; only where every option reads, that does no harm.
      if (word.kind === "glob" && /^[*?[@!+]/.test(word.raw) && (!anyOption || program.refused !== undefined)) {
        if (!words.some((other) => other.literal === "--")) proven = false;
      }
    }
  }
  if (invocation.name === "[" || invocation.name === "test") {
    // `-v` runs what stands in a subscript: an unknown word must not be able to come out as that operator.
    const [head, second] = words;
    const operator =
      /^-[a-uw-z]$/.test(head?.literal ?? "") ||
      head?.literal === "!" ||
      /^(?:=|==|!=|-\w\w|<|>)$/.test(second?.literal ?? "");
    if (words.some((word) => word.kind === "dynamic" && !(operator && word.raw.startsWith('"')))) proven = false;
  }
  if (invocation.name === "read")
    for (const word of parsed.operands) if (!/^[a-z_][a-z0-9_]*$/.test(word.literal ?? "")) proven = false;
  if (program.recursive !== undefined) {
    const recursive = program.recursive === "always" || program.recursive.some((flag) => parsed.flags.has(flag));
    if (recursive) wideRead(operands, program, invocation, report, place);
  }
  // Further words come from the input: any may be an option or a secret, so only counting and naming stay proven.
  if (
    invocation.appendsInput &&
    !(anyOption && (access === "list" || invocation.name === "wc" || /sum$/.test(invocation.name)))
  ) {
    proven = proven && program.operands === "text" && anyOption && program.refused === undefined;
  }
  return proven;
}

function filesOnly(parsed: ParsedOptions): boolean {
  return parsed.flags.has("--files") || parsed.flags.has("--type-list");
}

/** For programs all of whose options read: values after `=` may be paths, and every other word is one. */
function anyOptions(words: readonly ResolvedWord[]): ParsedOptions {
  const operands: ResolvedWord[] = [];
  const values: ParsedOptions["values"][number][] = [];
  let ended = false;
  for (const word of words) {
    const text = word.literal ?? word.raw;
    if (!ended && text === "--") ended = true;
    else if (ended || !text.startsWith("-") || text === "-") {
      if (text !== "-") operands.push(word);
    } else {
      const equals = text.indexOf("=");
      if (equals < 0) continue;
      values.push({
        option: text.slice(0, equals),
        kind: "text",
        word: {
          ...word,
          literal: word.literal?.slice(equals + 1),
          forms: word.forms.map((form) => form.slice(form.indexOf("=") + 1)),
        },
      });
    }
  }
  return { flags: new Set(), values, operands, unknown: undefined };
}

/** A read of a whole tree that holds the workspace's root, hidden files included, crosses the secrets in it. */
function wideRead(
  operands: readonly ResolvedWord[],
  program: ReadingProgram,
  invocation: Invocation,
  report: AnalysisReport,
  place: Place,
): void {
  const roots =
    operands.length > 0
      ? operands.flatMap((word) => targetsOf(word, invocation, place).map((target) => target.absolute))
      : program.defaultsToDirectory && invocation.input.type === "inherited"
        ? invocation.directories
        : [];
  for (const root of roots) {
    if (
      isWithin(place.workspace, root) ||
      isWithin(place.home, root) ||
      !isWithin(root.replace(/\/[^/]*[*?[].*$/, "") || "/", place.workspace)
    ) {
      report.danger({
        rule: "floor/recursive-read",
        verdict: "ask",
        reason:
          "This reads every file of the tree, hidden ones with secrets among them. Name a directory, or use the search tool, which leaves them out.",
      });
      return;
    }
  }
}
