import type { AnalysisReport } from "./analysis-report.ts";
import { codeDangers } from "./dangers/code-dangers.ts";
import { deleteDangers } from "./dangers/delete-dangers.ts";
import { gitDangers, gitParts } from "./dangers/git-dangers.ts";
import { leavingDangers } from "./dangers/leaving-dangers.ts";
import { systemDangers } from "./dangers/system-dangers.ts";
import { environmentEffect, isRefusedVariable } from "./environment.ts";
import { findExpression } from "./find-expression.ts";
import { gitPaths } from "./git-paths.ts";
import { deletes, interpreterOf, pathsInCode, startsProcess, truncates } from "./interpreters.ts";
import { type DangerRule, type Invocation, inheritedInput, type Place, programName } from "./invocation.ts";
import { parseOptions } from "./option-spec.ts";
import { proveReading } from "./prove-reading.ts";
import { expandPath } from "./resolve-path.ts";
import { literalWord, type ResolvedWord, wordTail } from "./resolve-word.ts";
import type { ShellScope } from "./shell-scope.ts";
import { privilegedWrappers, shells, wrappers } from "./wrappers.ts";
import { writingPrograms } from "./writing-programs.ts";

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

/** Judges one program with its words: unwraps it, looks for dangers, tries to prove that it reads, reports its paths. */
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
  report.judge(byProgram.get(name) ?? [], invocation);
  if (scope.functions.has(name) || scope.functions.has(invocation.program)) {
    report.notProven();
    return;
  }
  const wrapper = wrappers.get(name);
  if (wrapper !== undefined) {
    unwrap(invocation, context);
    return;
  }
  if (shells.has(name)) {
    interpretShell(invocation, context);
    return;
  }
  if (scripted(invocation, context)) return;
  if (name === "find" || name === "gfind") {
    for (const words of findExpression(invocation.words).commands) inner(invocation, words, context, { appendsInput: true });
  }
  const proven = proveReading(invocation, report, place);
  if (proven) return;
  report.notProven();
  if (interpreterOf(name) !== undefined) interpretCode(invocation, context);
  reportPaths(invocation, context);
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
      context.report.judge(byProgram.get(programName(form)) ?? [], { ...outer, ...changes, name: programName(form), program: form, words: rest, wrappers: wrappersAround });
    }
    return;
  }
  interpretCommand({ ...outer, ...changes, name: programName(program), program, words: rest, wrappers: wrappersAround }, context);
}

function unwrap(invocation: Invocation, context: InterpretContext): void {
  const { report, place } = context;
  const { name, words } = invocation;
  const wrapper = wrappers.get(name);
  if (wrapper === undefined) return;
  if (privilegedWrappers.has(name)) {
    report.danger({ rule: "floor/privileged", verdict: "ask", reason: `${name} runs a command with more rights.`, high: true });
  }
  const parsed = parseOptions(words, wrapper.options, { stopAtOperand: !wrapper.permutes });
  if (wrapper.prints?.some((option) => parsed.flags.has(option)) && parsed.unknown === undefined) {
    if (parsed.operands.some((word) => word.literal === undefined)) report.notProven();
    return;
  }
  if (parsed.unknown !== undefined) report.unresolved(`an option of ${name} that is not known: ${parsed.unknown}`);
  if (!wrapper.transparent) report.notProven();
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
    else if (option === "-o" || option === "--output" || option === "-f") report.mention(word.literal ?? "", invocation);
  }
  if (name === "time" && parsed.values.length > 0) report.notProven();
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
  if (operands.length === 0) {
    // Alone, they show the environment, open a shell or change this one: nothing that is proven to read.
    if (name === "exec" && parsed.operands.length === 0) return;
    report.notProven();
    if (name === "xargs") return;
    if (name === "script" || name === "screen" || name === "tmux" || privilegedWrappers.has(name)) return;
    return;
  }
  // `tmux new-session -d 'rm -rf x'`, `script file cmd`: words of its own stand before the command's.
  if (name === "tmux" || name === "screen" || wrapper.joins) {
    report.notProven();
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
  const takesText = options.some((word) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(word.literal ?? "") || word.literal === "--command");
  // Values of `-o` and `--rcfile` come before the script.
  const valued = options.filter((word) => /^(?:-[a-zA-Z]*[oO]|--rcfile|--init-file)$/.test(word.literal ?? "")).length;
  const operands = first < 0 ? [] : words.slice(first).filter((word) => takesText || !/^[-+]/.test(word.literal ?? "x"));
  const later = words.findIndex((word) => /^-[a-zA-Z]*c$/.test(word.literal ?? ""));
  const script = takesText ? operands[valued] : later > first && first >= 0 && valued > 0 ? words[later + 1] : undefined;
  if (options.some((word) => /^--(?:rcfile|init-file)/.test(word.literal ?? ""))) {
    report.danger({ rule: "floor/hidden-program", verdict: "deny", reason: "The shell would run a start-up file of the command's choice.", high: true });
  }
  if (options.some((word) => word.literal === undefined)) report.unresolved("an option of a shell that is not known before it runs");
  // An interactive or login shell reads start-up files.
  if (options.some((word) => /^-[a-zA-Z]*[il]|^--login/.test(word.literal ?? ""))) report.notProven();
  if (script !== undefined) {
    if (script.literal === undefined) report.unresolved("a script that is not known before it runs");
    else context.runScript(script.literal, invocation.directories, invocation.name);
    return;
  }
  report.notProven();
  if (operands.length > valued && !options.some((word) => /^-[a-zA-Z]*s/.test(word.literal ?? ""))) {
    for (const word of operands) report.path(word, "read", invocation);
    return;
  }
  if (input.text !== undefined) context.runScript(input.text, invocation.directories, invocation.name);
  else if (input.type !== "inherited") report.unresolved("a script that comes from the input");
}

/** Builtins and programs that carry a script in their words or on their input. True when there is nothing left to say. */
function scripted(invocation: Invocation, context: InterpretContext): boolean {
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
      report.notProven();
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
    case "export":
    case "declare":
    case "typeset":
    case "readonly":
    case "local":
      for (const word of words) {
        const text = word.literal ?? word.raw;
        const [variable = ""] = text.split("=", 1);
        if (text.startsWith("-")) {
          if (!/^-[xrgai]+$/.test(text)) report.notProven();
        } else if (text.includes("=")) judgeVariable(variable, word.literal?.slice(variable.length + 1), report);
        else report.notProven();
      }
      if (words.length === 0) report.notProven();
      return true;
    case "mapfile":
    case "readarray":
    case "complete":
    case "bind":
      report.notProven();
      for (const [index, word] of words.entries()) if (/^-[Cx]$/.test(word.literal ?? "")) run(words[index + 1]?.literal);
      return true;
    case "enable":
    case "shopt":
    case "hash":
    case "unset":
    case "unalias":
      report.notProven();
      if (name === "enable" && words.some((word) => word.literal === "-f")) report.unresolved("a builtin loaded from a file");
      return true;
    case "at":
    case "batch":
    case "crontab":
      report.notProven();
      if (input.text !== undefined) run(input.text.replace(/^(?:[\d*,/-]+\s+){5}/gm, ""));
      return false;
    case "make":
    case "gmake":
      report.notProven();
      if (input.text !== undefined && words.some((word, index) => word.literal === "-f-" || (word.literal === "-f" && words[index + 1]?.literal === "-"))) {
        run(input.text.replace(/^[\w.-]+:.*$/gm, ":").replace(/^\t[@-]*/gm, ""));
      }
      return false;
    case "git": {
      const parts = gitParts(invocation);
      for (const { option, word } of parts.values) {
        const alias = /^alias\.[^=]+=!(.*)$/s.exec(word.literal ?? "");
        if (option === "-c" && alias?.[1] !== undefined) run(alias[1]);
      }
      if (parts.subcommand === "" && !parts.flags.has("--version")) report.notProven();
      return false;
    }
    default:
      return false;
  }
}

/** A variable that programs started here will see. */
export function judgeVariable(name: string, value: string | undefined, report: AnalysisReport): void {
  if (isRefusedVariable(name, value)) {
    report.danger({ rule: "floor/environment", verdict: "deny", reason: `${name} makes other programs run what it says.`, high: true });
  } else if (environmentEffect(name, value) === "code") report.unresolved(`a value for ${name}, which decides what programs run`);
  else if (environmentEffect(name, value) === "unknown") report.notProven();
}

function interpretCode(invocation: Invocation, context: InterpretContext): void {
  const { report } = context;
  const { name, words, input } = invocation;
  const interpreter = interpreterOf(name);
  if (interpreter === undefined) return;
  const codes: (string | undefined)[] = [];
  let operand = false;
  for (let index = 0; index < words.length; index += 1) {
    const text = words[index]?.literal;
    if (text === undefined) {
      if (/awk$/.test(name)) codes.push(undefined);
      continue;
    }
    const joined = interpreter.code.find((option) => text === option || (option.startsWith("--") && text.startsWith(`${option}=`)));
    if (joined !== undefined) {
      codes.push(text === joined ? words[++index]?.literal : text.slice(joined.length + 1));
      operand = true;
    } else if (/^-[a-zA-Z]+$/.test(text) && interpreter.code.some((option) => option.length === 2 && text.includes(option[1] ?? "")) && !/^-[mM]/.test(text)) {
      const letter = [...text].findIndex((character) => interpreter.code.includes(`-${character}`));
      const rest = text.slice(letter + 1);
      codes.push(rest !== "" && interpreter.values?.includes(text[letter] ?? "") ? rest : words[++index]?.literal);
      operand = true;
    } else if (!text.startsWith("-")) {
      if (/awk$/.test(name) && !operand) codes.push(text);
      operand = true;
    }
  }
  if (!operand && interpreter.readsInput && input.type !== "inherited") codes.push(input.text);
  for (const code of codes) {
    if (code === undefined) {
      report.unresolved("code that is not known before it runs");
      continue;
    }
    if (startsProcess.test(code)) {
      report.danger({ rule: "floor/inline-code", verdict: "deny", reason: `The ${name} code starts another program. Run that program as a command of its own.`, high: true });
    }
    if (deletes.test(code)) {
      report.danger({ rule: "floor/inline-code", verdict: "deny", reason: `The ${name} code deletes files. Use the file tools.`, high: true });
    }
    for (const path of pathsInCode(code)) report.mention(path, invocation, truncates.test(code) ? "write" : "unknown");
  }
}

/** Paths of a command that is not proven to read: what each word does where a table knows, `unknown` elsewhere. */
function reportPaths(invocation: Invocation, context: InterpretContext): void {
  const { report } = context;
  const { name, words } = invocation;
  if (name === "git") {
    reportGitPaths(invocation, context);
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
    const short = !option.startsWith("--") && option.length > 2 ? Object.keys(writing?.values ?? {}).find((key) => key.length === 2 && option.includes(key[1] ?? "")) : undefined;
    const isTarget = writing?.target?.includes(option) ?? false;
    const access = isTarget ? "write" : (writing?.values?.[option] ?? (short === undefined ? undefined : writing?.values?.[short]));
    if (isTarget) target = true;
    if (access !== undefined) {
      const value = equals > 0 ? wordTail(word, equals + 1) : short !== undefined && !option.endsWith(short[1] ?? "") ? wordTail(word, option.indexOf(short[1] ?? "") + 1) : words[++index];
      if (value !== undefined) report.path(value, access, invocation);
    } else if (equals > 0) mentionWord(wordTail(word, equals + 1), invocation, report);
    // `-f.env`, `-Isrc`: a value may be joined to a short option.
    else if (text.length > 2 && !text.startsWith("--") && word.literal !== undefined) mentionWord(literalWord(text.slice(2)), invocation, report);
  }
  for (const [index, word] of operands.slice(writing?.skip ?? 0).entries()) {
    const isLast = index === operands.length - (writing?.skip ?? 0) - 1;
    if (writing === undefined) mentionWord(word, invocation, report);
    else if (writing.last !== undefined && isLast && !target && operands.length > 1) report.path(word, writing.last, invocation);
    else report.path(word, writing.operands, invocation);
  }
}

function mentionWord(word: ResolvedWord, invocation: Invocation, report: AnalysisReport): void {
  // Text with blanks is a message or code, seldom one path: look at the pieces that look like paths.
  if (word.literal !== undefined && /\s/.test(word.literal)) {
    if (interpreterOf(invocation.name) !== undefined) for (const path of pathsInCode(word.literal)) report.mention(path, invocation);
    return;
  }
  if (word.literal !== undefined && /^[a-z][\w+.-]*:\/\//i.test(word.literal)) return;
  report.path(word, "unknown", invocation);
  const at = word.literal?.search(/[@:]/) ?? -1;
  if (word.literal !== undefined && at >= 0) report.mention(word.literal.slice(at + 1), invocation);
}

function reportGitPaths(invocation: Invocation, context: InterpretContext): void {
  const { report, place } = context;
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
