import type { AnalysisReport } from "./analysis-report.ts";
import { regenerable } from "./dangers/delete-dangers.ts";
import { gitParts } from "./dangers/git-dangers.ts";
import { findPaths } from "./find-paths.ts";
import { printingOptions } from "./git-options.ts";
import { gitPaths } from "./git-paths.ts";
import { isInterpreter, pathsInCode } from "./interpreters.ts";
import { type Invocation, type Place, targetsOf } from "./invocation.ts";
import { parseOptions } from "./option-spec.ts";
import { type ProgramFiles, programFiles } from "./program-files.ts";
import { expandPath } from "./resolve-path.ts";
import { literalWord, type ResolvedWord, wordTail } from "./resolve-word.ts";
import { joinedValues, shortFlags } from "./short-options.ts";
import { verbWords } from "./verb-words.ts";

/** Paths of a command: what each word does where a table knows, `unknown` elsewhere. */
export function reportPaths(invocation: Invocation, report: AnalysisReport, place: Place): void {
  const { name, words } = invocation;
  if (name === "git") {
    reportGitPaths(invocation, report, place);
    return;
  }
  if (name === "find" || name === "gfind") {
    findPaths(invocation, report);
    return;
  }
  const writing = programFiles(name);
  if (writing?.operands === "none") return;
  if (/^g?sed$/.test(name)) sedFiles(invocation, report);
  const verbs = verbWords(name, words);
  const operands: ResolvedWord[] = [];
  let target = false;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined) break;
    if (verbs.has(word)) continue;
    const text = word.literal ?? word.raw;
    if (text === "-" || !text.startsWith("-")) {
      operands.push(word);
      continue;
    }
    const equals = text.indexOf("=");
    const option = equals > 0 ? text.slice(0, equals) : text;
    const isTarget = writing?.target?.includes(option) ?? false;
    const access = isTarget ? "write" : writing?.values?.[option];
    if (isTarget) target = true;
    if (access === undefined && textOptions(writing).has(option)) {
      const value = equals < 0 ? words[++index] : wordTail(word, equals + 1);
      if (/^(?:-g|--i?glob|--include)$/.test(option)) report.aimedGlob(value?.literal ?? "");
      continue;
    }
    if (access !== undefined) {
      const value = equals > 0 ? wordTail(word, equals + 1) : words[++index];
      if (value !== undefined) report.path(value, access, invocation);
    } else if (equals > 0 && /^--out/.test(option)) report.path(wordTail(word, equals + 1), "write", invocation);
    else if (equals > 0) mentionWord(wordTail(word, equals + 1), invocation, report);
    // `-f.env`, `-Isrc`: a value may be joined to a short option.
    else if (text.length > 2 && !text.startsWith("--") && word.literal !== undefined) {
      for (const value of joinedValues(text, shortFlags(name))) mentionWord(literalWord(value), invocation, report);
    }
  }
  const instead = words.some((word) => writing?.instead?.options.test(word.literal ?? word.raw))
    ? writing?.instead
    : undefined;
  const takesPlace = words.some((word) => writing?.skipUnless?.test(word.literal ?? word.raw));
  const named = operands.slice(takesPlace ? 0 : (writing?.skip ?? 0));
  for (const [index, word] of named.entries()) {
    const isLast = index === named.length - 1;
    if (writing === undefined) mentionWord(word, invocation, report);
    else if (instead !== undefined) report.path(word, instead.operands, invocation, instead.keepsContent);
    else if (writing.last !== undefined && isLast && !target && operands.length > 1) {
      report.path(word, writing.last, invocation);
      intoDirectory(word, named.slice(0, -1), writing.last, invocation, report, place);
    } else if (writing.last !== undefined && isLast && word.kind !== "literal") {
      // It may come out as several words, the last of which is the target.
      report.path(word, writing.operands, invocation);
      report.path(word, writing.last, invocation);
    } else if (writing.operands === "delete" && isMadeAgain(word)) report.path(word, "delete", invocation, true);
    else report.path(word, writing.operands, invocation, writing.keepsContent);
  }
  // Linked here under its own name.
  const [only] = named;
  if (name === "ln" && !target && named.length === 1 && only?.literal !== undefined) {
    report.path(literalWord(baseName(only.literal)), "write", invocation);
  }
}

/** `r file`, `w file` in a script, and behind the flags of `s`. */
const sedFile = /(?:^|[\s;{}/\d$gpIM])[rRwW]\s+([^\s;}]+)/g;

/** The command `e`, and the flag `e` of `s`. */
const sedRuns = /^[\d,$]*e(?: |$)|^s([^\w\s]).*\1.*\1[gpIMm\d]*e/;

function sedFiles(invocation: Invocation, report: AnalysisReport): void {
  const operands = invocation.words.flatMap(({ literal = "-" }) => (literal.startsWith("-") ? [] : [literal]));
  if (operands.some((script) => sedRuns.test(script))) {
    const reason = "The sed script runs a command.";
    report.danger({ rule: "floor/hidden-program", verdict: "deny", reason, high: true });
  }
  for (const { literal = "" } of invocation.words)
    for (const [, file = ""] of literal.matchAll(sedFile)) report.mention(file, invocation);
}

function isMadeAgain({ kind, forms }: ResolvedWord): boolean {
  if (kind === "dynamic" && forms.some((form) => form.includes("*"))) return false;
  return forms.every((form) => form.split("/").some((name) => regenerable.has(name)) && !form.includes(".."));
}

/** Into the root of the workspace, what is copied may replace a file of the same name there. */
function intoDirectory(
  to: ResolvedWord,
  sources: readonly ResolvedWord[],
  access: "list" | "read" | "write" | "delete" | "unknown",
  invocation: Invocation,
  report: AnalysisReport,
  place: Place,
): void {
  if (!targetsOf(to, invocation, place).some(({ absolute }) => absolute === place.workspace)) return;
  for (const source of sources) {
    const name = baseName(source.literal ?? "");
    if (name !== "") report.path(literalWord(`${place.workspace}/${name}`), access, invocation);
  }
}

function baseName(path: string): string {
  const name = path.replace(/\/+$/, "");
  return name.slice(name.lastIndexOf("/") + 1);
}

const none: ReadonlySet<string> = new Set();
const texts = new Map<ProgramFiles, ReadonlySet<string>>();

function textOptions(writing: ProgramFiles | undefined): ReadonlySet<string> {
  if (writing?.text === undefined) return none;
  const known = texts.get(writing) ?? new Set(writing.text.split(" "));
  texts.set(writing, known);
  return known;
}

function mentionWord(word: ResolvedWord, invocation: Invocation, report: AnalysisReport): void {
  // Text with blanks is a message or code, seldom one path: look at the pieces that look like paths.
  if (word.literal !== undefined && /\s/.test(word.literal)) {
    if (isInterpreter(invocation.name)) for (const path of pathsInCode(word.literal)) report.mention(path, invocation);
    return;
  }
  if (word.literal !== undefined && /^[a-z][\w+.-]*:\/\//i.test(word.literal)) return;
  report.path(word, "unknown", invocation);
  const behind = /^.*[@:=](.+)$/.exec(word.literal ?? "")?.[1];
  if (behind !== undefined) report.mention(behind, invocation);
}

function reportGitPaths(invocation: Invocation, report: AnalysisReport, place: Place): void {
  const parts = gitParts(invocation);
  let directories = invocation.directories;
  for (const { option, word } of parts.values) {
    if (option === "-C" && word.literal !== undefined) {
      const to = word.literal;
      directories = directories.map((directory) => expandPath(to, directory, place.home));
      report.path(word, "list", invocation);
    } else if (option === "--git-dir" || option === "--work-tree") report.path(word, "unknown", invocation);
  }
  gitPaths({ ...invocation, directories }, parts.subcommand, wordsOf(parts), report);
}

/** Without the pattern of a search, which is no file. */
function wordsOf({ subcommand, words }: ReturnType<typeof gitParts>): readonly ResolvedWord[] {
  const options = subcommand === "grep" ? printingOptions.get(subcommand) : undefined;
  if (options === undefined) return words;
  const { operands, values } = parseOptions(words, options);
  const isGiven = values.some(({ kind }) => kind === "pattern" || kind === "path");
  const files = values.flatMap(({ kind, word }) => (kind === "path" ? [word] : []));
  return [...files, ...operands.slice(isGiven ? 0 : 1)];
}
