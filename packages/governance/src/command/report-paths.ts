import type { AnalysisReport } from "./analysis-report.ts";
import { regenerable } from "./dangers/delete-dangers.ts";
import { gitParts } from "./dangers/git-dangers.ts";
import { findPaths } from "./find-paths.ts";
import { printingOptions } from "./git-options.ts";
import { gitPaths } from "./git-paths.ts";
import { interpreterOf, pathsInCode } from "./interpreters.ts";
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
      const named = writing?.named;
      const equals = text.indexOf("=");
      const access = equals > 0 ? named?.[text.slice(0, equals)] : undefined;
      if (access !== undefined) report.path(wordTail(word, equals + 1), access, invocation);
      else operands.push(word);
      continue;
    }
    const equals = text.indexOf("=");
    const option = equals > 0 ? text.slice(0, equals) : text;
    const short =
      !option.startsWith("--") && option.length > 2
        ? Object.keys(writing?.values ?? {}).find((key) => key.length === 2 && option.includes(key[1] ?? ""))
        : undefined;
    const isTarget = writing?.target?.includes(option) ?? false;
    const access = isTarget
      ? "write"
      : (writing?.values?.[option] ?? (short === undefined ? undefined : writing?.values?.[short]));
    if (isTarget) target = true;
    if (access === undefined && textOptions(writing).has(option)) {
      const value = equals < 0 ? words[++index] : wordTail(word, equals + 1);
      if (/^(?:-g|--i?glob|--include)$/.test(option)) report.aimedGlob(value?.literal ?? "");
      continue;
    }
    if (access !== undefined) {
      const value =
        equals > 0
          ? wordTail(word, equals + 1)
          : short !== undefined && !option.endsWith(short[1] ?? "")
            ? wordTail(word, option.indexOf(short[1] ?? "") + 1)
            : words[++index];
      if (value !== undefined)
        report.path(writing?.prefix !== undefined && access === "write" ? startOf(value) : value, access, invocation);
    } else if (
      writing === undefined &&
      /^(?:-o|--out[\w-]*)$/.test(option) &&
      equals < 0 &&
      words[index + 1] !== undefined
    ) {
      // Mostly what is written; with blanks in it no message, as other words may be.
      index += 1;
      const value = words[index];
      if (value !== undefined) report.path(value, "unknown", invocation);
    } else if (equals > 0) mentionWord(wordTail(word, equals + 1), invocation, report);
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
    // `-d @file`, `-F name=@file`: the file is read and sent.
    const sent = name === "curl" ? /^(?:[\w-]+=)?[@<](.+)$/s.exec(word.literal ?? "") : null;
    if (sent?.[1] !== undefined) report.path(literalWord(sent[1].split(";", 1)[0] ?? ""), "read", invocation);
    else if (writing === undefined) mentionWord(word, invocation, report);
    else if (instead !== undefined) report.path(word, instead.operands, invocation, instead.keepsContent);
    else if (writing.last !== undefined && isLast && !target && operands.length > 1) {
      // `host:path` lies on another machine.
      if (/^(?:rsync|scp)$/.test(name) && /^[\w.@-]+:/.test(word.literal ?? "")) continue;
      report.path(writing.prefix === undefined ? word : startOf(word), writing.last, invocation);
      intoDirectory(word, named.slice(0, -1), writing.last, invocation, report, place);
    } else if (writing.last !== undefined && isLast && word.kind !== "literal") {
      // It may come out as several words, the last of which is the target.
      report.path(word, writing.operands, invocation);
      report.path(word, writing.last, invocation);
    } else if (writing.operands === "delete" && isMadeAgain(word)) report.path(word, "delete", invocation, true);
    else report.path(word, writing.operands, invocation, writing.keepsContent);
  }
  derivedFiles(writing, named, invocation, report);
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
  const hasScript = invocation.words.some(({ literal = "" }) => /^-[a-zA-Z]*[ef]|^--(?:expression|file)/.test(literal));
  const operands = invocation.words.flatMap(({ literal = "-" }) => (literal.startsWith("-") ? [] : [literal]));
  const files = operands.slice(hasScript ? 0 : 1);
  if (operands.some((script) => sedRuns.test(script))) {
    const reason = "The sed script runs a command.";
    report.danger({ rule: "floor/hidden-program", verdict: "deny", reason, high: true });
  }
  // `-i.bak` keeps the file as it was under another name.
  const suffix = invocation.words.flatMap(
    ({ literal = "" }) => /^(?:-[a-zA-Z]*?i|--in-place=)(.+)$/.exec(literal)?.[1] ?? [],
  )[0];
  if (suffix !== undefined)
    for (const file of files) report.path(literalWord(keptName(file, suffix)), "write", invocation);
  for (const { literal = "" } of invocation.words)
    for (const [, file = ""] of literal.matchAll(sedFile)) report.mention(file, invocation);
}

/** `*` in the suffix stands for the file's name, and a slash in it for another directory. */
function keptName(file: string, suffix: string): string {
  if (!suffix.includes("*")) return `${file}${suffix}`;
  const name = suffix.replaceAll("*", baseName(file));
  return name.includes("/") ? name : `${file.slice(0, file.lastIndexOf("/") + 1)}${name}`;
}

function isMadeAgain({ kind, forms }: ResolvedWord): boolean {
  if (kind === "dynamic" && forms.some((form) => form.includes("*"))) return false;
  return forms.every((form) => form.split("/").some((name) => regenerable.has(name)) && !form.includes(".."));
}

/** Files that a program makes and names itself. */
function derivedFiles(
  writing: ProgramFiles | undefined,
  named: readonly ResolvedWord[],
  invocation: Invocation,
  report: AnalysisReport,
): void {
  const { words } = invocation;
  if (writing?.prefix !== undefined && named.length < 2)
    report.path(startOf(literalWord(writing.prefix)), "write", invocation);
  for (const word of named) {
    const { adds } = writing ?? {};
    const toOutput = words.some(({ literal }) =>
      /^(?:-[a-zA-Z0-9]*[clt]|--(?:stdout|to-stdout|list|test)$)/.test(literal ?? ""),
    );
    if (adds !== undefined && !toOutput) report.path(withEnd(word, adds), "write", invocation);
    const packed = /^(.+)\.(?:gz|z|bz2|xz|lzma|zst|tgz)$/i.exec(word.literal ?? "")?.[1];
    if (/^(?:gunzip|bunzip2|unxz|unzstd|gzip|bzip2|xz|zstd)$/.test(invocation.name) && packed !== undefined)
      report.path(literalWord(packed), "write", invocation);
  }
  const backs = words.some((word) => /^(?:-[a-zA-Z]*b|--backup)/.test(word.literal ?? ""));
  const [last] = named.slice(-1);
  if (backs && writing?.target !== undefined && last !== undefined) report.path(startOf(last), "write", invocation);
}

/** Every name that begins like this word. */
function startOf(word: ResolvedWord): ResolvedWord {
  const escaped =
    word.kind === "literal" ? word.forms.map((form) => form.replace(/[\\*?[\]{}()!+@|]/g, "\\$&")) : word.forms;
  return {
    raw: word.raw,
    kind: word.kind === "literal" ? "glob" : word.kind,
    literal: undefined,
    forms: escaped.map((form) => `${form}*`),
  };
}

function withEnd(word: ResolvedWord, end: string): ResolvedWord {
  return {
    raw: word.raw,
    kind: word.kind,
    literal: word.literal === undefined ? undefined : `${word.literal}${end}`,
    forms: word.forms.map((form) => `${form}${end}`),
  };
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
    if (interpreterOf(invocation.name) !== undefined)
      for (const path of pathsInCode(word.literal)) report.mention(path, invocation);
    return;
  }
  if (word.literal !== undefined && /^[a-z][\w+.-]*:\/\//i.test(word.literal)) return;
  report.path(word, "unknown", invocation);
  const at = word.literal?.search(/[@:]/) ?? -1;
  if (word.literal !== undefined && at >= 0) report.mention(word.literal.slice(at + 1), invocation);
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
