import { isInterpreter } from "../programs/interpreters.ts";
import { programFiles } from "../programs/known-programs.ts";
import type { AnalysisReport } from "./analysis-report.ts";
import { codeDangers } from "./dangers/code-dangers.ts";
import { declaredDangers } from "./dangers/declared-dangers.ts";
import { deleteDangers } from "./dangers/delete-dangers.ts";
import { judgeVariable } from "./dangers/environment.ts";
import { gitDangers } from "./dangers/git-dangers.ts";
import { systemDangers } from "./dangers/system-dangers.ts";
import { gitContents } from "./git-contents.ts";
import { interpretCode } from "./interpret-code.ts";
import { reportPaths } from "./report-paths.ts";
import { findExpression, withFound } from "./words/find-expression.ts";
import { type DangerRule, type Invocation, inheritedInput, type Place, programName } from "./words/invocation.ts";
import { parseOptions } from "./words/option-spec.ts";
import { expandPath } from "./words/resolve-path.ts";
import type { ResolvedWord } from "./words/resolve-word.ts";
import type { ShellScope } from "./words/shell-scope.ts";
import { privilegedWrappers, rareWrappers, shells, type Wrapper, wrappers } from "./words/wrappers.ts";

/** What interpreting one command needs from the surrounding walk. */
export interface InterpretContext {
  readonly place: Place;
  readonly report: AnalysisReport;
  readonly scope: ShellScope;
  /** Analyses a script that the command would run, in a scope like the current one. */
  runScript(text: string, directories: readonly string[], wrapper: string): void;
}

const everywhere: DangerRule[] = [];
const byProgram = new Map<string, DangerRule[]>();
for (const rule of [...deleteDangers, ...gitDangers, ...systemDangers, ...declaredDangers, ...codeDangers]) {
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
  if (privilegedWrappers.has(name)) report.ask("floor/privileged", `${name} runs a command with more rights.`);
  const wrapper = wrappers.get(name);
  if (wrapper !== undefined) {
    unwrap(wrapper, invocation, context);
    return;
  }
  // The system's loader starts the program that it is given.
  if (rareWrappers.has(name) || /^ld(?:-linux[\w.-]*|-musl[\w.-]*|)\.so(?:\.\d+)?$/.test(name)) {
    unwrapAnywhere(invocation, context);
    return;
  }
  if (shells.has(name)) {
    interpretShell(invocation, context);
    return;
  }
  if (carriedScript(invocation, context)) return;
  if (name === "find" || name === "gfind") {
    for (const words of withFound(findExpression(invocation.words)))
      inner(invocation, words, context, { appendsInput: true });
  }
  const contents = name === "git" ? gitContents(invocation) : undefined;
  if (contents !== undefined) report.contents(contents);
  if (isInterpreter(name)) interpretCode(invocation, report);
  reportPaths(invocation, report, place);
}

/** `shutdown --help` stops nothing. It is not proven to only read either: the program may be a different one. */
function onlyHelps({ words, appendsInput, input }: Invocation): boolean {
  return words.length === 1 && words[0]?.literal === "--help" && !appendsInput && input.type === "inherited";
}

/** Runs the remaining words as a separate command. */
function inner(
  outer: Invocation,
  words: readonly ResolvedWord[],
  context: InterpretContext,
  changes: Partial<Invocation> = {},
): void {
  const [first, ...rest] = words;
  if (first === undefined) return;
  const wrappersAround = [...outer.wrappers, outer.name];
  const started = (program: string): Invocation => ({
    ...outer,
    ...changes,
    name: programName(program),
    program,
    words: rest,
    wrappers: wrappersAround,
  });
  if (first.literal !== undefined) interpretCommand(started(first.literal), context);
  else {
    context.report.unresolved("a command name that is not known before it runs");
    // Every name it may have is looked at for dangers.
    for (const form of first.forms.slice(0, 8))
      context.report.judge(byProgram.get(programName(form)) ?? [], started(form));
  }
}

function unwrap(wrapper: Wrapper, invocation: Invocation, context: InterpretContext): void {
  const { report, place } = context;
  const { name, words } = invocation;
  const { flags, values, operands, unknown } = parseOptions(words, wrapper.options, { stopAtOperand: true });
  if (wrapper.prints?.some((option) => flags.has(option)) && unknown === undefined) return;
  if (unknown !== undefined) report.unresolved(`an option of ${name} that is not known: ${unknown}`);
  const own = [...values.map(({ word }) => word), ...operands.slice(0, wrapper.operands ?? 0)];
  // Unquoted, it may come out as several words, and the command begins with one of them.
  if (own.some((word) => word.literal === undefined))
    report.unresolved(`a word of ${name} that is not known before it runs`);
  let { directories } = invocation;
  for (const { option, kind, word } of values) {
    if (kind === "path" || kind === "written") report.path(word, kind === "path" ? "read" : "write", invocation);
    else if (word.literal === undefined) continue;
    else if (wrapper.script?.includes(option)) context.runScript(word.literal, directories, name);
    else if (wrapper.directory?.includes(option)) {
      const to = word.literal;
      directories = directories.map((directory) => expandPath(to, directory, place.home));
    }
  }
  const rest = operands.slice(wrapper.operands ?? 0);
  while (wrapper.assignments && /^[A-Za-z_][A-Za-z0-9_]*=/.test(rest[0]?.literal ?? rest[0]?.raw ?? "")) {
    const word = rest.shift();
    const [variable = ""] = (word?.literal ?? word?.raw ?? "").split("=", 1);
    judgeVariable(variable, word?.literal?.slice(variable.length + 1), report);
  }
  inner(invocation, rest, context, {
    directories,
    appendsInput: wrapper.appendsInput ?? invocation.appendsInput,
    input: wrapper.appendsInput ? inheritedInput : invocation.input,
  });
}

/** Every word that names a program may begin the inner command, and every word of several may be a script. */
function unwrapAnywhere(invocation: Invocation, context: InterpretContext): void {
  const { name, words, directories } = invocation;
  context.report.unresolved(`where the command of ${name} begins`);
  const starts = words.flatMap(({ literal }, index) => (isKnown(programName(literal ?? "")) ? [index] : []));
  const first = words.findIndex(({ literal }) => /^[^-=]+$/.test(literal ?? ""));
  for (const index of starts.length === 0 && first >= 0 ? [first] : starts.slice(0, 8))
    inner(invocation, words.slice(index), context, { appendsInput: invocation.appendsInput || name === "parallel" });
  for (const { literal } of words) {
    const script = literal?.replace(/^--?[\w-]+=|^-[a-zA-Z](?=.*\s)/, "") ?? "";
    if (/\s/.test(script)) context.runScript(script, directories, name);
  }
}

function isKnown(name: string): boolean {
  return (
    byProgram.has(name) ||
    wrappers.has(name) ||
    rareWrappers.has(name) ||
    shells.has(name) ||
    isInterpreter(name) ||
    programFiles(name) !== undefined
  );
}

/** `bash -c`, `bash script`, `bash <<EOF`, `… | bash`. */
function interpretShell(invocation: Invocation, context: InterpretContext): void {
  const { report } = context;
  const { words, input, name, directories } = invocation;
  const texts = words.map(({ literal }) => literal ?? "x");
  const takes = texts.findIndex((text) => /^-[a-zA-Z]*c[a-zA-Z]*$|^--command$/.test(text));
  const before = takes < 0 ? words : words.slice(0, takes);
  // Values of `-o` and `--rcfile` come before the script.
  const operands = (list: readonly ResolvedWord[]): readonly ResolvedWord[] => {
    const valued = list.filter(({ literal }) => /^(?:[-+][a-zA-Z]*[oO]|--rcfile|--init-file)$/.test(literal ?? ""));
    return list.filter(({ literal }) => !/^[-+]/.test(literal ?? "x")).slice(valued.length);
  };
  if (texts.some((text) => /^--(?:rcfile|init-file)/.test(text)))
    report.refuse("floor/hidden-program", "The shell would run a start-up file that the command names.", {
      held: true,
    });
  const files = operands(before);
  if (takes >= 0 && files.length === 0) {
    const [script] = operands(words.slice(takes));
    if (script?.literal === undefined) report.unresolved("a script that is not known before it runs");
    else context.runScript(script.literal, directories, name);
  } else if (files.length > 0 && !texts.some((text) => /^-[a-zA-Z]*s/.test(text))) {
    for (const word of files) report.path(word, "read", invocation);
  } else if (input.text !== undefined) context.runScript(input.text, directories, name);
  else if (input.type !== "inherited") report.unresolved("a script that comes from the input");
}

/** Builtins and programs that carry a script in their words or on their input. True when there is nothing left to say. */
function carriedScript(invocation: Invocation, context: InterpretContext): boolean {
  const { report } = context;
  const { name, words, input } = invocation;
  const run = (text: string | undefined) => {
    if (text === undefined) report.unresolved("a script that is not known before it runs");
    else context.runScript(text, invocation.directories, name);
  };
  switch (name) {
    case "eval": {
      report.unresolved("eval");
      const texts = words.map((word) => word.literal);
      if (texts.every((text) => text !== undefined)) run(texts.join(" "));
      return true;
    }
    case "source":
    case ".":
      report.unresolved("a sourced script");
      for (const word of words.slice(0, 1)) report.path(word, "read", invocation);
      if (input.text !== undefined) run(input.text);
      return true;
    case "trap": {
      const script = words.find((word) => !(word.literal ?? "x").startsWith("-"));
      if (script !== undefined && words.length > 1) run(script.literal);
      return true;
    }
    case "alias":
      report.unresolved("an alias");
      for (const word of words) {
        const text = word.literal ?? "";
        context.scope.functions.add(text.split("=", 1)[0] ?? "");
        if (text.includes("=")) run(text.slice(text.indexOf("=") + 1));
      }
      return true;
    case "make":
      // Targets are at the beginning of a line.
      if (input.text !== undefined) run(input.text.replace(/^[\w.-]+:.*$/gm, ":").replace(/^\t[@-]*/gm, ""));
      return false;
    default:
      return false;
  }
}
