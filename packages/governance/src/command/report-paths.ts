import { isInterpreter } from "../programs/interpreters.ts";
import { programFiles, programNamed, verbOf } from "../programs/known-programs.ts";
import type { ProgramFiles } from "../programs/program.ts";
import type { AnalysisReport } from "./analysis-report.ts";
import { regenerable } from "./dangers/delete-dangers.ts";
import { gitPaths } from "./git-paths.ts";
import { pathsInCode } from "./interpret-code.ts";
import { findExpression, foundFile } from "./words/find-expression.ts";
import { type Invocation, type Place, programName } from "./words/invocation.ts";
import { parseOptions } from "./words/option-spec.ts";
import { literalWord, type ResolvedWord, wordTail } from "./words/resolve-word.ts";

/** Paths of a command: what each word does where a table knows, `unknown` elsewhere. */
export function reportPaths(invocation: Invocation, report: AnalysisReport, place: Place): void {
  const { name, words } = invocation;
  if (name === "git") gitPaths(invocation, report, place);
  else if (name === "find" || name === "gfind") findPaths(invocation, report);
  else {
    const row = programFiles(name);
    if (row !== undefined) reportRow(row, invocation, report);
    else {
      const names = new Set([...verbWords(name, words), ...leftOut(name, words)]);
      for (const word of words) if (!names.has(word)) mentionWord(word, invocation, report);
    }
  }
}

/** Where find starts, what it writes, and what it deletes. Commands it starts are analysed separately. */
function findPaths(invocation: Invocation, report: AnalysisReport): void {
  const { starts, commands, writes, deletes, names, found } = findExpression(invocation.words);
  // Programs started by `-exec` may read the found files.
  for (const start of starts) report.path(start, commands.length > 0 ? "read" : "list", invocation);
  if (commands.length > 0) for (const name of names) report.aimedGlob(name);
  for (const file of writes) report.path(file, "write", invocation);
  if (deletes) report.path({ ...foundFile, forms: found }, "delete", invocation);
}

function reportRow(row: ProgramFiles, invocation: Invocation, report: AnalysisReport): void {
  if (row.operands === "none") return;
  const { name, words } = invocation;
  const { flags, values, operands, strange } = parseOptions(words, row.options);
  const instead = row.instead?.options.some((option) => flags.has(option)) ? row.instead : undefined;
  const { operands: access, keepsContent } = instead ?? row;
  if (access === "none") return;
  // `mv --backup` and `sed -i.bak` make files of other names.
  const writes = !/^(?:read|list)$/.test(row.last ?? access);
  const keepsAnother = instead !== undefined && words.some((word) => /^-[a-zA-Z]*?i.|^--in-place=/.test(textOf(word)));
  if (writes && (strange.length > 0 || keepsAnother)) report.unresolved(`an option of ${name} that is not known`);
  for (const word of strange) mentionWord(word, invocation, report);
  if (/sed$/.test(name)) for (const word of words) sedScript(word, invocation, report);
  for (const { kind, word } of values) {
    if (kind === "glob") report.aimedGlob(word.literal ?? "");
    else if (kind === "path") report.path(word, "read", invocation);
    else if (kind === "written" || kind === "target") report.path(word, "write", invocation);
  }
  const hasPattern = row.pattern === true && !values.some(({ kind }) => kind === "pattern" || kind === "path");
  const files = operands.slice(hasPattern ? 1 : 0);
  const hasTarget = values.some(({ kind }) => kind === "target");
  for (const [index, word] of files.entries()) {
    const isLast = row.last !== undefined && instead === undefined && !hasTarget && index === files.length - 1;
    if (!isLast || index === 0)
      report.path(word, access, invocation, access === "delete" && isMadeAgain(word) ? true : keepsContent);
    // It may expand to several words, the last of which is the target.
    if (isLast && (index > 0 || word.kind !== "literal")) report.path(word, row.last, invocation);
    // Linked here under its own name.
    else if (isLast && name === "ln") report.path(literalWord(programName(textOf(word))), "write", invocation);
  }
}

function textOf({ literal, raw }: ResolvedWord): string {
  return literal ?? raw;
}

/** `r file`, `w file` in a script, and behind the flags of `s`. */
const sedFile = /(?:^|[\s;{}/\d$gpIM])[rRwW]\s+([^\s;}]+)/g;

/** The command `e`, and the flag `e` of `s`. */
const sedRuns = /^[\d,$]*e(?: |$)|^s([^\w\s]).*\1.*\1[gpIMm\d]*e/;

function sedScript({ literal = "" }: ResolvedWord, invocation: Invocation, report: AnalysisReport): void {
  if (sedRuns.test(literal)) report.refuse("floor/hidden-program", "The sed script runs a command.", { held: true });
  for (const [, file = ""] of literal.matchAll(sedFile)) report.mention(file, invocation);
}

function isMadeAgain({ kind, forms }: ResolvedWord): boolean {
  if (kind === "dynamic" && forms.some((form) => form.includes("*"))) return false;
  return forms.every((form) => form.split("/").some((name) => regenerable.has(name)) && !form.includes(".."));
}

/** A word of unknown meaning: it may name a file, also after `@`, `:` or `=`, or joined to an option. */
function mentionWord(word: ResolvedWord, invocation: Invocation, report: AnalysisReport): void {
  const text = textOf(word);
  const equals = text.indexOf("=");
  if (text.startsWith("-") && text !== "-") {
    if (equals > 0) {
      // `--out-dir=dist`
      const value = wordTail(word, equals + 1);
      if (/^--out/.test(text)) report.path(value, "write", invocation);
      else mentionWord(value, invocation, report);
    } else if (!text.startsWith("--") && text.length > 2 && word.literal !== undefined) {
      // `-f.env`, `-Isrc`, `-xzf.env`
      const path = /[./~].*$/s.exec(text)?.[0];
      for (const value of new Set([text.slice(2), path ?? text.slice(2)]))
        mentionWord(literalWord(value), invocation, report);
    }
    return;
  }
  // Text with blanks is a message or code, seldom one path: look at the pieces that look like paths.
  if (word.literal !== undefined && /\s/.test(word.literal)) {
    if (isInterpreter(invocation.name)) for (const path of pathsInCode(word.literal)) report.mention(path, invocation);
    return;
  }
  if (/^[a-z][\w+.-]*:\/\//i.test(text)) return;
  report.path(word, "unknown", invocation);
  const behind = /^.*[@:=](.+)$/.exec(word.literal ?? "")?.[1];
  if (behind !== undefined) report.mention(behind, invocation);
}

/** Options of package managers without a value: a word behind one is a name like any other. */
const bareOptions =
  /^(?:-[DEOPSgy]|--(?:save|save-dev|save-exact|save-optional|save-peer|no-save|dev|global|force|yes|upgrade|user|legacy-peer-deps|frozen-lockfile))$/;

/** A name that no program takes for a file, optionally with a version: dots and slashes only there. */
const name = /^(?:@[\w-]+\/)?[A-Za-z0-9][\w:-]*(?:\[[\w,-]+\])?(?:(?:@|[=<>~!]=)[\w.^~*-]+)?$/;

/** The words by which an archiver or a copier is told what to leave out: `--exclude=.env`, `--exclude .env`, `-x .env` of zip. */
function leftOut(program: string, words: readonly ResolvedWord[]): readonly ResolvedWord[] {
  if (!/^(?:(?:g|bsd)?tar|rsync|zip)$/.test(program)) return [];
  const begins = program === "zip" ? /^(?:-x|--exclude)$/ : /^--exclude$/;
  return words.filter((word, at) => {
    if (/^--exclude=/.test(textOf(word))) return true;
    if (textOf(word).startsWith("-")) return false;
    // Zip takes all words up to the next option.
    const option = words.slice(0, at).findLastIndex((one) => textOf(one).startsWith("-"));
    return (program === "zip" || option === at - 1) && begins.test(textOf(words[option] ?? word));
  });
}

/** The words of a program that are verbs and names, and no files: `install` and `left-pad` of `npm install left-pad`. */
function verbWords(program: string, words: readonly ResolvedWord[]): ReadonlySet<ResolvedWord> {
  const [verb, ...rest] = words;
  const known = programNamed(program);
  const hasVerbs = known?.verbs !== undefined || known?.otherwise !== undefined;
  // Behind an option, the first word may be its value.
  if (verb?.literal === undefined || !hasVerbs || !name.test(verb.literal)) return new Set();
  if (verbOf(program, [verb.literal])?.verb.names !== true) return new Set([verb]);
  const end = rest.findIndex(({ literal }) => literal === "--");
  const names = rest.slice(0, end < 0 ? undefined : end).filter(({ literal }, index) => {
    const before = words[index]?.literal ?? "-";
    const mayBeValue = before.startsWith("-") && !before.includes("=") && !bareOptions.test(before);
    return !mayBeValue && literal !== undefined && name.test(literal);
  });
  return new Set([verb, ...names]);
}
