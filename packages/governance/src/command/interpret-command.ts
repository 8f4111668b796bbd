import type { AnalysisReport } from "./analysis-report.ts";
import { carriedScript } from "./carried-script.ts";
import { codeDangers } from "./dangers/code-dangers.ts";
import { deleteDangers } from "./dangers/delete-dangers.ts";
import { gitDangers } from "./dangers/git-dangers.ts";
import { leavingDangers } from "./dangers/leaving-dangers.ts";
import { systemDangers } from "./dangers/system-dangers.ts";
import { findExpression } from "./find-expression.ts";
import { gitContents } from "./git-contents.ts";
import { interpretCode } from "./interpret-code.ts";
import { isInterpreter } from "./interpreters.ts";
import { type DangerRule, type Invocation, inheritedInput, type Place, programName } from "./invocation.ts";
import { judgeVariable } from "./judge-variable.ts";
import { parseOptions } from "./option-spec.ts";
import { reportPaths } from "./report-paths.ts";
import { expandPath } from "./resolve-path.ts";
import type { ResolvedWord } from "./resolve-word.ts";
import type { ShellScope } from "./shell-scope.ts";
import { privilegedWrappers, shells, wrappers } from "./wrappers.ts";

/** What interpreting one command needs from the walk it is part of. */
export interface InterpretContext {
  readonly place: Place;
  readonly report: AnalysisReport;
  readonly scope: ShellScope;
  /** Analyses a script that the command would run, in a scope like this one. */
  runScript(text: string, directories: readonly string[], wrapper: string): void;
}

const everywhere: DangerRule[] = [];
const byProgram = new Map<string, DangerRule[]>();
for (const rule of [...deleteDangers, ...gitDangers, ...systemDangers, ...leavingDangers, ...codeDangers]) {
  if (rule.programs === undefined) everywhere.push(rule);
  for (const program of rule.programs ?? []) byProgram.set(program, [...(byProgram.get(program) ?? []), rule]);
}

/** Deeper than this, wrappers in wrappers are not followed. */
const deepest = 24;

/** Judges one program with its words: unwraps it, looks for dangers, reports its paths. */
export function interpretCommand(invocation: Invocation, context: InterpretContext): void {
  const { report, place, scope } = context;
  const { name } = invocation;
  if (invocation.wrappers.length > deepest) {
    report.unresolved("commands nested too deeply");
    return;
  }
  report.command(invocation);
  if (/[^\u0020-\u007e]/.test(invocation.program)) report.unresolved("a program name with characters outside ASCII");
  report.judge(everywhere, invocation);
  if (!onlyHelps(invocation)) report.judge(byProgram.get(name) ?? [], invocation);
  if (scope.functions.has(name) || scope.functions.has(invocation.program)) return;
  const wrapper = wrappers.get(name);
  if (wrapper !== undefined) {
    unwrap(invocation, context);
    return;
  }
  // The system's loader starts the program that it is given.
  if (/^ld(?:-linux[\w.-]*|-musl[\w.-]*|)\.so(?:\.\d+)?$/.test(name)) {
    const from = invocation.words.findIndex((word) => !(word.literal ?? "x").startsWith("-"));
    inner(invocation, from < 0 ? [] : invocation.words.slice(from), context);
    return;
  }
  if (shells.has(name)) {
    interpretShell(invocation, context);
    return;
  }
  if (carriedScript(invocation, context)) return;
  if (name === "find" || name === "gfind") {
    const expression = findExpression(invocation.words);
    for (const words of expression.commands)
      inner(invocation, foundFiles(expression, words), context, { appendsInput: true });
  }
  const contents = name === "git" ? gitContents(invocation) : undefined;
  if (contents !== undefined) report.contents(contents);
  if (isInterpreter(name)) interpretCode(invocation, report);
  reportPaths(invocation, report, place);
}

/** `shutdown --help` stops nothing. It is not proven to read either: who knows what goes by that name. */
function onlyHelps({ words, appendsInput, input }: Invocation): boolean {
  return words.length === 1 && words[0]?.literal === "--help" && !appendsInput && input.type === "inherited";
}

/** `{}` stands for what is found: files below where the search starts, of the names it asks for. */
function foundFiles(
  { starts, names: asked, alternatives }: ReturnType<typeof findExpression>,
  words: readonly ResolvedWord[],
): readonly ResolvedWord[] {
  // A delete of this or that is judged by all the names that the search asks for.
  const deletes = /(?:^|\/)(?:rm|rmdir|unlink|shred|srm|rimraf|mv)$/.test(words[0]?.literal ?? "");
  if (deletes && alternatives) return words;
  const names = alternatives ? [] : asked;
  const forms = (starts.length === 0 ? ["."] : starts.flatMap((start) => start.forms))
    .flatMap((start) => (names.length === 0 ? ["*"] : names).map((name) => `${start.replace(/\/+$/, "")}/${name}`))
    .slice(0, 32);
  return words.map((word) =>
    word.literal === "{}" ? { raw: word.raw, kind: "dynamic", literal: undefined, forms } : word,
  );
}

/** Runs the rest of the words as a command of its own. */
function inner(
  outer: Invocation,
  words: readonly ResolvedWord[],
  context: InterpretContext,
  changes: Partial<Invocation> = {},
): void {
  const [first, ...rest] = words;
  if (first === undefined) return;
  const wrappersAround = [...outer.wrappers, outer.name];
  const program = first.literal;
  if (program === undefined) {
    context.report.unresolved("a command name that is not known before it runs");
    // Every name it may have is looked at for dangers.
    for (const form of first.forms.slice(0, 8)) {
      context.report.judge(byProgram.get(programName(form)) ?? [], {
        ...outer,
        ...changes,
        name: programName(form),
        program: form,
        words: rest,
        wrappers: wrappersAround,
      });
    }
    return;
  }
  interpretCommand(
    { ...outer, ...changes, name: programName(program), program, words: rest, wrappers: wrappersAround },
    context,
  );
}

function unwrap(invocation: Invocation, context: InterpretContext): void {
  const { report, place } = context;
  const { name, words } = invocation;
  const wrapper = wrappers.get(name);
  if (wrapper === undefined) return;
  if (privilegedWrappers.has(name)) {
    report.danger({
      rule: "floor/privileged",
      verdict: "ask",
      reason: `${name} runs a command with more rights.`,
      high: true,
    });
  }
  const parsed = parseOptions(words, wrapper.options, { stopAtOperand: !wrapper.permutes });
  if (wrapper.prints?.some((option) => parsed.flags.has(option)) && parsed.unknown === undefined) return;
  if (parsed.unknown !== undefined) report.unresolved(`an option of ${name} that is not known: ${parsed.unknown}`);
  const own = [...parsed.values.map(({ word }) => word), ...parsed.operands.slice(0, wrapper.operands ?? 0)];
  // Unquoted, it may come out as several words, and the command begins with one of them.
  if (own.some((word) => word.literal === undefined))
    report.unresolved(`a word of ${name} that is not known before it runs`);
  let operands = parsed.operands.slice(wrapper.operands ?? 0);
  let directories = invocation.directories;
  const wanted = wrapper.directory;
  for (const { option, word } of parsed.values) {
    if (wrapper.script?.includes(option)) {
      if (word.literal === undefined) report.unresolved("a script that is not known before it runs");
      else context.runScript(word.literal, directories, name);
    } else if (wanted !== undefined && (option === wanted || option === "--chdir")) {
      if (word.literal === undefined) report.unresolved("a directory that is not known before it runs");
      else {
        const to = word.literal;
        directories = directories.map((directory) => expandPath(to, directory, place.home));
      }
    } else if (option === "-a" || option === "--arg-file") report.path(word, "read", invocation);
    else if (name === "time" && (option === "-o" || option === "--output")) report.path(word, "write", invocation);
    else if (name === "stdbuf") continue;
    else if (option === "-o" || option === "--output" || option === "-f")
      report.mention(word.literal ?? "", invocation);
  }
  if (wrapper.assignments) {
    const from = operands.findIndex((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word.literal ?? word.raw));
    const assigned = from < 0 ? operands : operands.slice(0, from);
    for (const word of assigned) {
      const text = word.literal ?? word.raw;
      const [variable = ""] = text.split("=", 1);
      judgeVariable(variable, word.literal?.slice(variable.length + 1), report);
    }
    operands = from < 0 ? [] : operands.slice(from);
  }
  if (operands.length === 0) return;
  // `tmux new-session -d 'rm -rf x'`, `script file cmd`: words of its own stand before the command's.
  if (name === "tmux" || name === "screen" || wrapper.joins) {
    const texts = operands.map((word) => word.literal);
    if (texts.every((text) => text !== undefined)) context.runScript(texts.join(" "), directories, name);
    else report.unresolved("a script that is not known before it runs");
    for (const text of texts) if (text !== undefined && /\s/.test(text)) context.runScript(text, directories, name);
  }
  if (wrapper.permutes) return;
  inner(invocation, operands, context, {
    directories,
    appendsInput: wrapper.appendsInput ?? invocation.appendsInput,
    input: wrapper.appendsInput ? inheritedInput : invocation.input,
  });
}

/** `bash -c`, `bash script`, `bash <<EOF`, `… | bash`. */
function interpretShell(invocation: Invocation, context: InterpretContext): void {
  const { report } = context;
  const { words, input } = invocation;
  const first = words.findIndex((word) => !/^[-+]/.test(word.literal ?? "x"));
  const options = first < 0 ? words : words.slice(0, first);
  const takesText = options.some(
    (word) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word.literal ?? "") || word.literal === "--command",
  );
  // Values of `-o` and `--rcfile` come before the script.
  const valued = options.filter((word) => /^(?:-[a-zA-Z]*[oO]|--rcfile|--init-file)$/.test(word.literal ?? "")).length;
  const operands =
    first < 0 ? [] : words.slice(first).filter((word) => takesText || !/^[-+]/.test(word.literal ?? "x"));
  const later = words.findIndex((word) => /^-[a-zA-Z]*c$/.test(word.literal ?? ""));
  const script = takesText
    ? operands[valued]
    : later > first && first >= 0 && valued > 0
      ? words[later + 1]
      : undefined;
  if (options.some((word) => /^--(?:rcfile|init-file)/.test(word.literal ?? ""))) {
    report.danger({
      rule: "floor/hidden-program",
      verdict: "deny",
      reason: "The shell would run a start-up file of the command's choice.",
      high: true,
    });
  }
  if (options.some((word) => word.literal === undefined))
    report.unresolved("an option of a shell that is not known before it runs");
  if (script !== undefined) {
    if (script.literal === undefined) report.unresolved("a script that is not known before it runs");
    else context.runScript(script.literal, invocation.directories, invocation.name);
    return;
  }
  if (operands.length > valued && !options.some((word) => /^-[a-zA-Z]*s/.test(word.literal ?? ""))) {
    for (const word of operands) report.path(word, "read", invocation);
    return;
  }
  if (input.text !== undefined) context.runScript(input.text, invocation.directories, invocation.name);
  else if (input.type !== "inherited") report.unresolved("a script that comes from the input");
}
