import type { AnalysisReport } from "./analysis-report.ts";
import { gitParts } from "./dangers/git-dangers.ts";
import { gitPaths } from "./git-paths.ts";
import { interpreterOf, pathsInCode } from "./interpreters.ts";
import type { Invocation, Place } from "./invocation.ts";
import { expandPath } from "./resolve-path.ts";
import { literalWord, type ResolvedWord, wordTail } from "./resolve-word.ts";
import { writingPrograms } from "./writing-programs.ts";

/** Paths of a command that is not proven to read: what each word does where a table knows, `unknown` elsewhere. */
export function reportPaths(invocation: Invocation, report: AnalysisReport, place: Place): void {
  const { name, words } = invocation;
  if (name === "git") {
    reportGitPaths(invocation, report, place);
    return;
  }
  if (name === "find" || name === "gfind" || /^g?sed$|awk$/.test(name)) return;
  const writing = writingPrograms.get(name);
  const operands: ResolvedWord[] = [];
  let target = false;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined) break;
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
    if (access !== undefined) {
      const value =
        equals > 0
          ? wordTail(word, equals + 1)
          : short !== undefined && !option.endsWith(short[1] ?? "")
            ? wordTail(word, option.indexOf(short[1] ?? "") + 1)
            : words[++index];
      if (value !== undefined) report.path(value, access, invocation);
    } else if (equals > 0) mentionWord(wordTail(word, equals + 1), invocation, report);
    // `-f.env`, `-Isrc`: a value may be joined to a short option.
    else if (text.length > 2 && !text.startsWith("--") && word.literal !== undefined)
      mentionWord(literalWord(text.slice(2)), invocation, report);
  }
  for (const [index, word] of operands.slice(writing?.skip ?? 0).entries()) {
    const isLast = index === operands.length - (writing?.skip ?? 0) - 1;
    if (writing === undefined) mentionWord(word, invocation, report);
    else if (writing.last !== undefined && isLast && !target && operands.length > 1)
      report.path(word, writing.last, invocation);
    else report.path(word, writing.operands, invocation);
  }
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
  gitPaths({ ...invocation, directories }, parts.subcommand, parts.words, report);
}
