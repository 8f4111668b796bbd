import type { AnalysisReport } from "./analysis-report.ts";
import { awkOnlyReads } from "./awk-program.ts";
import { gitParts } from "./dangers/git-dangers.ts";
import { findExpression } from "./find-expression.ts";
import { gitPaths } from "./git-paths.ts";
import { gitGlobalReading, gitNeedsFirst, gitReading } from "./git-reading.ts";
import { type Invocation, type Place, targetsOf } from "./invocation.ts";
import { type ParsedOptions, parseOptions } from "./option-spec.ts";
import { type ReadingProgram, readingPrograms, systemProgramDirectories, versionPrograms } from "./reading-programs.ts";
import { isWithin } from "./resolve-path.ts";
import { literalWord, type ResolvedWord } from "./resolve-word.ts";
import { secretInGlob } from "./secret-paths.ts";
import { sedScript } from "./sed-script.ts";

/** True when the invocation provably reads; what it reads is reported either way. */
export function proveReading(invocation: Invocation, report: AnalysisReport, place: Place): boolean {
  if (!isSystemProgram(invocation.program)) return false;
  const { name, words } = invocation;
  if (words.length === 1 && /^(?:--version|-v|-V|version)$/.test(words[0]?.literal ?? "") && versionPrograms.has(name))
    return true;
  switch (name) {
    case "git":
      return proveGit(invocation, report, place);
    case "sed":
    case "gsed":
      return proveSed(invocation, report);
    case "awk":
    case "gawk":
    case "mawk":
    case "nawk":
      return proveAwk(invocation, report);
    case "find":
    case "gfind":
      return proveFind(invocation, report);
    case "cd":
    case "pushd":
    case "popd":
      return words.length <= 1 && words.every((word) => word.literal !== undefined);
  }
  const program = readingPrograms.get(name);
  return program !== undefined && proveProgram(program, invocation, report, place);
}

function isSystemProgram(program: string): boolean {
  const slash = program.lastIndexOf("/");
  return slash < 0 || systemProgramDirectories.has(program.slice(0, slash));
}

function proveProgram(program: ReadingProgram, invocation: Invocation, report: AnalysisReport, place: Place): boolean {
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

function checkGlob(word: ResolvedWord, report: AnalysisReport): boolean {
  if (word.literal === undefined) return false;
  if (word.literal.startsWith("!")) return true;
  const secret = secretInGlob(word.literal, { dot: true });
  if (secret?.how === "aimed") {
    report.danger({
      rule: "floor/credentials",
      verdict: "deny",
      reason: `${word.raw} reaches ${secret.kind}; its content is not for the agent.`,
      high: true,
    });
  }
  return true;
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

function proveGit(invocation: Invocation, report: AnalysisReport, place: Place): boolean {
  const parts = gitParts(invocation);
  const global = parseOptions(invocation.words, gitGlobalReading, { stopAtOperand: true });
  let proven =
    global.unknown === undefined && invocation.directories.every((directory) => directory === place.workspace);
  for (const { option, word } of parts.values) {
    if (option !== "-c") continue;
    const pager = /^(?:core\.)?pager(?:\.\w+)?=(?:cat)?$/.test(word.literal ?? "");
    if (pager && invocation.words.length > 0) continue;
    proven = false;
  }
  if (parts.subcommand === "") return proven && parts.flags.has("--version");
  const reading = gitReading.get(parts.subcommand);
  if (reading === undefined) return false;
  const parsed = parseOptions(parts.words, reading.options);
  if (parsed.unknown !== undefined) proven = false;
  let operands = parsed.operands;
  if (reading.pattern && !parsed.values.some((value) => value.kind === "pattern")) operands = operands.slice(1);
  const [first] = operands;
  if (
    reading.first !== undefined &&
    (first === undefined ? gitNeedsFirst.has(parts.subcommand) : !reading.first.includes(first.literal ?? ""))
  )
    proven = false;
  if (reading.operands === "none" && operands.length > 0) proven = false;
  if (
    reading.operands === "listing" &&
    operands.length > 0 &&
    !reading.listing?.some((flag) => parsed.flags.has(flag))
  ) {
    proven = parts.subcommand === "symbolic-ref" && operands.length === 1 && proven;
  }
  if (
    operands.some((word) => word.kind === "dynamic") ||
    operands.some((word) => word.kind === "glob" && /^[*?[]/.test(word.raw))
  )
    proven = false;
  proven &&= !invocation.appendsInput;
  if (proven)
    gitPaths(
      invocation,
      parts.subcommand,
      reading.pattern ? [...parsed.operands.slice(1), ...parsed.values.map((value) => value.word)] : parts.words,
      report,
    );
  return proven;
}

function proveSed(invocation: Invocation, report: AnalysisReport): boolean {
  const parsed = parseOptions(
    invocation.words,
    "-n -E -r -s -u -z -e=! -f=@ -l= --quiet --silent --regexp-extended --expression=! --separate --unbuffered --null-data --posix --debug --sandbox",
  );
  const scripts = parsed.values.filter((value) => value.kind === "pattern").map((value) => value.word);
  // `-i ''` of BSD: no copy of the file as it was.
  const operands = parsed.operands.filter(
    (word) => word.literal !== "" || !invocation.words.some(({ literal }) => literal === "-i"),
  );
  if (scripts.length === 0) {
    const first = operands.shift();
    if (first === undefined) return false;
    scripts.push(first);
  }
  let proven = parsed.unknown === undefined && !parsed.values.some((value) => value.kind === "path");
  for (const script of scripts) {
    if (script.literal === undefined) {
      proven = false;
      continue;
    }
    const found = sedScript(script.literal);
    if (found.runs)
      report.danger({
        rule: "floor/hidden-program",
        verdict: "deny",
        reason: "The sed script runs a command.",
        high: true,
      });
    for (const file of found.writes)
      if (!/^\/dev\/std(?:out|err)$/.test(file)) report.mention(file, invocation, "write");
    for (const file of found.reads) report.mention(file, invocation, "read");
    if (found.runs || found.unknown || found.writes.some((file) => !/^\/dev\/std(?:out|err)$/.test(file)))
      proven = false;
  }
  const changes = invocation.words.some((word) => /^(?:-[a-zA-Z]*i|--in-place)/.test(word.literal ?? ""));
  // `-i.bak` keeps the file as it was under another name.
  const suffix = invocation.words.flatMap(
    (word) => /^(?:-[a-zA-Z]*?i|--in-place=)(.+)$/.exec(word.literal ?? "")?.[1] ?? [],
  )[0];
  if (suffix !== undefined)
    for (const { literal } of operands)
      if (literal !== undefined) report.path(literalWord(keptName(literal, suffix)), "write", invocation);
  return readOperands(operands, invocation, report, changes ? "write" : "read") && proven;
}

/** `*` in the suffix stands for the file's name, and a slash in it for another directory. */
function keptName(file: string, suffix: string): string {
  if (!suffix.includes("*")) return `${file}${suffix}`;
  const slash = file.lastIndexOf("/") + 1;
  const name = suffix.replaceAll("*", file.slice(slash));
  return name.includes("/") ? name : `${file.slice(0, slash)}${name}`;
}

function proveAwk(invocation: Invocation, report: AnalysisReport): boolean {
  const parsed = parseOptions(invocation.words, "-F= -v= --field-separator= --assign= --posix --re-interval --csv", {
    stopAtOperand: true,
  });
  const [program, ...operands] = parsed.operands;
  if (program === undefined) return false;
  const pure = program.literal !== undefined && awkOnlyReads(program.literal);
  return (
    readOperands(operands, invocation, report, "read") &&
    pure &&
    parsed.unknown === undefined &&
    parsed.values.every((value) => value.word.literal !== undefined)
  );
}

function proveFind(invocation: Invocation, report: AnalysisReport): boolean {
  const expression = findExpression(invocation.words);
  // What `-exec` starts may read what is found.
  for (const start of expression.starts)
    report.path(start, expression.commands.length > 0 ? "read" : "list", invocation);
  if (expression.commands.length > 0) for (const name of expression.names) checkGlob(literalWord(name), report);
  for (const file of expression.writes) report.path(file, "write", invocation);
  const named = expression.alternatives ? [] : expression.names;
  if (expression.deletes) {
    const starts = expression.starts.length > 0 ? expression.starts : [literalWord(".")];
    for (const start of starts) {
      const forms = start.forms.flatMap((form) => named.map((name) => `${form.replace(/\/+$/, "")}/${name}`));
      report.path(
        named.length > 0 ? { raw: start.raw, kind: "glob", literal: undefined, forms } : start,
        "delete",
        invocation,
      );
    }
  }
  return (
    expression.unknown === undefined &&
    expression.writes.length === 0 &&
    !expression.deletes &&
    !invocation.appendsInput
  );
}

function readOperands(
  words: readonly ResolvedWord[],
  invocation: Invocation,
  report: AnalysisReport,
  access: "read" | "write",
): boolean {
  let proven = !invocation.appendsInput;
  for (const word of words) {
    report.path(word, access, invocation);
    if (word.kind === "dynamic" || (word.kind === "glob" && /^[*?[@!+]/.test(word.raw))) proven = false;
  }
  return proven;
}
