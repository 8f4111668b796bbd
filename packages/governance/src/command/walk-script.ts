import { type Assignment, type Command, forEachChild, type HereDoc, type ParsedScript, parse, type Redirection, type SyntaxNode, type Word } from "unbash";
import type { AnalysisReport } from "./analysis-report.ts";
import { openVariables, shellVariableEffect } from "./environment.ts";
import { interpretCommand, judgeVariable } from "./interpret-command.ts";
import { type CommandInput, type Invocation, inheritedInput, type Place, programName } from "./invocation.ts";
import { programsIn } from "./programs-in.ts";
import { expandPath } from "./resolve-path.ts";
import { literalWord, type ResolvedWord, resolveWord } from "./resolve-word.ts";
import { assign, forget, mergeDirectories, type ShellScope, subshell } from "./shell-scope.ts";

/** What a walk carries along. */
interface Walk {
  readonly report: AnalysisReport;
  readonly place: Place;
  /** Shells and interpreters around this script, outermost first. */
  readonly wrappers: readonly string[];
  readonly depth: number;
}

/** Nested scripts deeper than this are not followed. */
const deepest = 16;

const harmlessTarget = /^\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/\d+)$/;

/** Parses a script and reports everything that it would do. */
export function walkScript(text: string, scope: ShellScope, walk: Walk): void {
  if (walk.depth > deepest) {
    walk.report.unresolved("scripts nested too deeply");
    return;
  }
  walkParsed(parse(text), scope, walk);
}

function walkParsed(script: ParsedScript, scope: ShellScope, walk: Walk): void {
  for (const error of script.errors ?? []) walk.report.unresolved(`text that does not parse: ${error.message}`);
  for (const statement of script.commands) visit(statement, scope, walk, inheritedInput);
}

function visit(node: SyntaxNode, scope: ShellScope, walk: Walk, input: CommandInput): void {
  switch (node.type) {
    case "Command":
      visitCommand(node, scope, walk, input);
      return;
    case "Statement": {
      const before = scope.directories;
      visit(node.command, node.background ? subshell(scope) : scope, walk, input);
      // The directory may not exist: what follows runs in either.
      if (scope.directories !== before && !mergeDirectories(scope, before)) walk.report.unresolved("too many possible directories");
      return;
    }
    case "AndOr": {
      const seen: (readonly string[])[] = [scope.directories];
      const conditional = scope.conditional;
      for (const [index, command] of node.commands.entries()) {
        if (index > 0 && node.operators[index - 1] === "||") for (const directories of seen) mergeDirectories(scope, directories);
        if (index > 0) scope.conditional = true;
        visit(command, scope, walk, input);
        seen.push(scope.directories);
      }
      scope.conditional = conditional;
      for (const directories of seen) mergeDirectories(scope, directories);
      return;
    }
    case "Pipeline": {
      let from = input;
      const sources: string[] = [];
      for (const command of node.commands) {
        visit(command, node.commands.length > 1 ? subshell(scope) : scope, walk, from);
        sources.push(...programsIn(command));
        from = { type: "pipe", text: outputText(command, scope), sources: [...sources] };
      }
      return;
    }
    case "Subshell":
      visit(node.body, subshell(scope), walk, input);
      return;
    case "BraceGroup":
      visit(node.body, scope, walk, input);
      return;
    case "CompoundList":
      for (const statement of node.commands) visit(statement, scope, walk, input);
      return;
    case "Redirected": {
      const redirected = redirections(node.redirects, scope, walk) ?? input;
      visit(node.command, scope, walk, redirected);
      return;
    }
    case "Function":
      scope.functions.add(node.name.value);
      if (callsItself(node.body, node.name.value)) {
        walk.report.danger({ rule: "floor/fork-bomb", verdict: "deny", reason: "A function that starts itself again and again.", high: true });
      }
      conditionally(scope, node.body, () => visit(node.body, scope, walk, inheritedInput));
      return;
    case "For":
    case "Select": {
      visitWord(node.name, scope, walk);
      const values: ResolvedWord[] = [];
      for (const word of node.wordlist ?? []) {
        visitWord(word, scope, walk);
        values.push(...resolveWord(word, scope));
      }
      judgeShellVariable(node.name.value, undefined, walk.report);
      const known = node.wordlist !== undefined && values.every((value) => value.kind === "literal");
      conditionally(scope, node.body, () => {
        forget(scope, node.name.value);
        scope.variables.set(node.name.value, { values: values.flatMap((value) => value.forms).slice(0, 32), certain: known && values.length <= 32 });
        visit(node.body, scope, walk, input);
      });
      return;
    }
    case "If":
    case "While":
    case "Case":
    case "ArithmeticFor":
      conditionally(scope, node, () => forEachChild(node, (child) => visit(child, scope, walk, input)));
      return;
    case "Coproc":
      visit(node.body, subshell(scope), walk, inheritedInput);
      return;
    case "TestCommand":
    case "ArithmeticCommand":
      if (node.type === "ArithmeticCommand" || /-(?:eq|ne|lt|le|gt|ge|v)\b/.test(JSON.stringify(node.expression.type === "TestUnary" || node.expression.type === "TestBinary" ? node.expression.operator : "-eq"))) {
        arithmeticVariables(node, scope, walk);
      }
      if (node.type === "ArithmeticCommand") likeCommand(node.body, scope, walk);
      forEachChild(node, (child) => visit(child, scope, walk, input));
      return;
    case "TestUnary":
      if (node.operator === "-v" && !/^\w+$/.test(node.operand.value)) walk.report.unresolved("a test whose subscript may run code");
      visitWord(node.operand, scope, walk);
      return;
    case "Word":
      visitWord(node, scope, walk);
      return;
    case "Assignment":
      visitAssignment(node, scope, walk);
      return;
    case "Redirect":
    case "HereString":
    case "HereDoc":
      redirections([node], scope, walk);
      return;
    default:
      visitPart(node, scope, walk, input);
  }
}

/** Parts of words: only what runs or shows something in them matters here. */
function visitPart(node: SyntaxNode, scope: ShellScope, walk: Walk, input: CommandInput): void {
  switch (node.type) {
    case "CommandExpansion":
    case "ProcessSubstitution":
    case "ArithmeticCommandExpansion":
      if (node.script === undefined) walk.report.unresolved("a substitution that does not parse");
      else walkParsed(node.script, subshell(scope), { ...walk, depth: walk.depth + 1 });
      return;
    case "SimpleExpansion":
      showsVariable(node.text.slice(1), scope, walk);
      return;
    case "ParameterExpansion":
      if (node.prefix === "!") walk.report.unresolved("an indirect variable");
      if (node.operation?.type === "Transform") walk.report.unresolved("a variable whose value is expanded again");
      if (node.index !== undefined) arithmeticVariables(node.index, scope, walk);
      if (node.operation?.type === "Default" && node.operation.operator.includes("=")) {
        forget(scope, node.parameter);
        judgeShellVariable(node.parameter, undefined, walk.report);
      }
      showsVariable(node.parameter, scope, walk);
      break;
    case "ArithmeticExpansion":
      likeCommand(node.text.slice(3, -2), scope, walk);
      arithmeticVariables(node, scope, walk);
      break;
  }
  forEachChild(node, (child) => visit(child, scope, walk, input));
}

function visitWord(word: Word, scope: ShellScope, walk: Walk): void {
  if (word.parts === undefined) return;
  for (const part of word.parts) visitPart(part, scope, walk, inheritedInput);
}

/** A variable of the environment that is not public knowledge may hold a secret. */
function showsVariable(name: string, scope: ShellScope, walk: Walk): void {
  if (!scope.variables.has(name) && !openVariables.has(name)) walk.report.notProven();
}

/** Arithmetic evaluates the value of a variable as an expression, and a subscript in it may run a command. */
function arithmeticVariables(node: SyntaxNode, scope: ShellScope, walk: Walk): void {
  const look = (child: SyntaxNode): void => {
    const text = child.type === "ArithmeticWord" || child.type === "Word" ? child.value : child.type === "SimpleExpansion" ? child.text : "";
    for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) {
      const variable = scope.variables.get(name);
      if (variable !== undefined && !(variable.certain && variable.values.every((value) => /^-?\d+$/.test(value)))) {
        walk.report.unresolved("arithmetic with a variable that may hold code");
      }
    }
    forEachChild(child, look);
  };
  forEachChild(node, look);
}

/** Two words side by side are no arithmetic: a shell may take the parentheses for subshells. */
function likeCommand(body: string, scope: ShellScope, walk: Walk): void {
  if (!/[^\s=<>!&|+*/%^,?:(-]\s+-{0,2}[\w"'$./~]/.test(body)) return;
  walk.report.unresolved("arithmetic that reads like a command");
  walkScript(body, subshell(scope), { ...walk, depth: walk.depth + 1 });
}

function visitAssignment(node: Assignment, scope: ShellScope, walk: Walk): string | undefined {
  if (node.index !== undefined) {
    visitWord(node.index, scope, walk);
    if (node.index.parts !== undefined) walk.report.notProven();
  }
  // An older form of the tree keeps the subscript only in the text.
  const subscript = /^[A-Za-z_]\w*\[(.*?)\]\+?=/s.exec(node.text)?.[1];
  if (subscript !== undefined && node.index === undefined) walk.report.unresolved("an assignment whose subscript is not known");
  if (node.value.type === "ArrayValue") {
    for (const element of node.value.elements) visitWord(element, scope, walk);
    forget(scope, node.name);
    return undefined;
  }
  visitWord(node.value, scope, walk);
  const values = resolveWord(node.value, scope);
  const [first] = values;
  // No braces or globs are expanded in an assignment: the source is the value.
  return values.length === 1 && first?.kind === "literal" && node.append !== true && node.index === undefined ? first.literal : undefined;
}

function judgeShellVariable(name: string, value: string | undefined, report: AnalysisReport): void {
  const effect = shellVariableEffect(name, value);
  if (effect === "code") judgeVariable(name, value, report);
  else if (effect === "unknown") report.notProven();
}

function visitCommand(node: Command, scope: ShellScope, walk: Walk, pipe: CommandInput): void {
  const { report, place } = walk;
  if (node.name === undefined) {
    for (const item of node.prefix) {
      if (item.type !== "Assignment") continue;
      const value = visitAssignment(item, scope, walk);
      judgeShellVariable(item.name, value, report);
      assign(scope, item.name, value);
    }
    redirections(node.redirects, scope, walk);
    return;
  }
  for (const item of node.prefix) {
    if (item.type === "Assignment") judgeVariable(item.name, visitAssignment(item, scope, walk), report);
  }
  visitWord(node.name, scope, walk);
  const words: ResolvedWord[] = [...resolveWord(node.name, scope)];
  if (words.length !== 1) report.unresolved("a command name that the shell makes of several words");
  for (const argument of node.args) {
    if (argument.type === "Word") {
      visitWord(argument, scope, walk);
      words.push(...resolveWord(argument, scope));
      continue;
    }
    const value = visitAssignment(argument, scope, walk);
    words.push(value === undefined ? { raw: argument.text, kind: "dynamic", literal: undefined, forms: [`${argument.name}=*`] } : { ...literalWord(`${argument.name}=${value}`), raw: argument.text });
  }
  const input = redirections(node.redirects, scope, walk) ?? pipe;
  const [first, ...rest] = words;
  if (first === undefined) return;
  if (first.literal === undefined) report.unresolved(commandPosition(node.name));
  const program = first.literal ?? first.forms.find((form) => !form.includes("*")) ?? first.forms[0] ?? "";
  const invocation: Invocation = {
    name: programName(program),
    program,
    words: rest,
    wrappers: walk.wrappers,
    directories: scope.directories,
    input,
    appendsInput: false,
  };
  interpretCommand(invocation, {
    place,
    report,
    scope,
    runScript: (text, directories, wrapper) =>
      walkScript(text, { ...subshell(scope), directories }, { ...walk, wrappers: [...walk.wrappers, wrapper], depth: walk.depth + 1 }),
  });
  changeScope(invocation, scope, walk);
}

function commandPosition(name: Word): string {
  if (name.parts?.some((part) => part.type === "CommandExpansion")) return "a substitution in command position";
  if (name.parts?.some((part) => part.type === "Glob" || part.type === "ExtendedGlob")) return "a wildcard in command position";
  if (name.parts?.some((part) => part.type === "BraceExpansion")) return "braces in command position";
  return "a variable in command position";
}

/** Builtins that change what follows: the directory and variables. */
function changeScope(invocation: Invocation, scope: ShellScope, walk: Walk): void {
  const { name, words } = invocation;
  const literal = words.map((word) => word.literal);
  switch (name) {
    case "cd":
    case "pushd": {
      const target = words.find((word) => !/^-[LPe@n]+$|^--$/.test(word.literal ?? ""));
      const to = target === undefined ? walk.place.home : target.literal;
      if (to === undefined || to === "-" || /^[+-]\d+$/.test(to) || scope.variables.has("CDPATH")) {
        walk.report.unresolved("a directory that is not known before it runs");
        return;
      }
      for (const directory of scope.directories) {
        walk.report.path(literalWord(expandPath(to, directory, walk.place.home)), "list", invocation);
      }
      scope.directories = scope.directories.map((directory) => expandPath(to, directory, walk.place.home));
      return;
    }
    case "popd":
      walk.report.unresolved("a directory that is not known before it runs");
      return;
    case "read":
    case "mapfile":
    case "readarray":
    case "getopts":
    case "unset":
    case "let":
      for (const text of literal) if (text !== undefined && /^[A-Za-z_]\w*$/.test(text)) forget(scope, text);
      return;
    case "printf":
      if (literal[0] === "-v" && literal[1] !== undefined) forget(scope, literal[1]);
      return;
    case "export":
    case "declare":
    case "typeset":
    case "local":
    case "readonly":
      for (const text of literal) {
        const match = /^([A-Za-z_]\w*)=(.*)$/s.exec(text ?? "");
        if (match?.[1] !== undefined) assign(scope, match[1], match[2]);
      }
      for (const word of words) if (word.literal === undefined) forget(scope, word.raw.split(/[+=[]/, 1)[0] ?? "");
  }
}

/** Reports where redirections read and write; the last one of the input, when there is one. */
function redirections(nodes: readonly Redirection[], scope: ShellScope, walk: Walk): CommandInput | undefined {
  let input: CommandInput | undefined;
  const place: Invocation = { name: "", program: "", words: [], wrappers: [], directories: scope.directories, input: inheritedInput, appendsInput: false };
  for (const node of nodes) {
    if (node.type === "HereDoc") {
      input = { type: "text", text: hereDocument(node, scope, walk), sources: [] };
      continue;
    }
    if (node.target === undefined) {
      walk.report.unresolved("a redirection without a target");
      continue;
    }
    visitWord(node.target, scope, walk);
    const targets = resolveWord(node.target, scope);
    if (node.type === "HereString") {
      input = { type: "text", text: targets.length === 1 ? targets[0]?.literal : undefined, sources: [] };
      continue;
    }
    if (node.descriptor?.type === "FileDescriptorVariable") walk.report.notProven();
    for (const target of targets) {
      const duplicates = node.operator === ">&" || node.operator === "<&";
      if (duplicates && /^(?:\d+-?|-)$/.test(target.literal ?? "")) continue;
      if (harmlessTarget.test(target.literal ?? "")) continue;
      if (/^\/dev\/(?:tcp|udp)\//.test(target.forms[0] ?? "")) {
        walk.report.danger({ rule: "floor/send-data", verdict: "ask", reason: "This opens a connection to another machine.", high: true });
        continue;
      }
      if (node.operator === "<") {
        walk.report.path(target, "read", place);
        if (target.kind !== "literal") walk.report.notProven();
        input = { type: "file", text: undefined, sources: [] };
        continue;
      }
      const substituted = node.target.parts?.some((part) => part.type === "ProcessSubstitution") ?? false;
      walk.report.notProven();
      if (substituted) continue;
      walk.report.path(target, "write", place);
      if (target.forms.some((form) => /^\/dev\/(?!shm\/)/.test(expandPath(form, scope.directories[0] ?? "/", walk.place.home)))) {
        walk.report.danger({ rule: "floor/raw-device", verdict: "deny", reason: "This writes straight to a device.", high: true });
      }
      if (target.kind !== "literal") walk.report.unresolved("a redirection to a file that is not known before it runs");
    }
  }
  return input;
}

function hereDocument(node: HereDoc, scope: ShellScope, walk: Walk): string {
  for (const part of node.body.parts ?? []) visitPart(part, scope, walk, inheritedInput);
  // What is substituted stays in the text as it is written: as a script it is then looked at again.
  return node.operator === "<<-" ? node.body.text.replace(/^\t+/gm, "") : node.body.text;
}

function conditionally(scope: ShellScope, body: SyntaxNode, run: () => void): void {
  const before = scope.directories;
  const conditional = scope.conditional;
  scope.conditional = true;
  // A loop runs again, and a function later: what is assigned in it may hold from its beginning.
  const look = (node: SyntaxNode): void => {
    if (node.type === "Assignment" && scope.variables.has(node.name)) forget(scope, node.name);
    if (node.type === "Command" && node.name !== undefined && /^(?:read|mapfile|readarray|printf|declare|export|local|typeset|unset|let|getopts)$/.test(node.name.value)) {
      for (const word of node.args) if (word.type === "Word" && scope.variables.has(word.value)) forget(scope, word.value);
    }
    forEachChild(node, look);
  };
  look(body);
  run();
  scope.conditional = conditional;
  mergeDirectories(scope, before);
}

/** `:(){ :|:& };:` under any name. */
function callsItself(body: SyntaxNode, name: string): boolean {
  let calls = 0;
  let multiplies = false;
  const look = (node: SyntaxNode): void => {
    if (node.type === "Command" && node.name?.value === name) calls += 1;
    if ((node.type === "Statement" && node.background) || (node.type === "Pipeline" && node.commands.length > 1)) multiplies = true;
    forEachChild(node, look);
  };
  look(body);
  return calls > 1 || (calls > 0 && multiplies);
}

/** What a command prints, when it only prints its own words or its here-document. */
function outputText(node: SyntaxNode, scope: ShellScope): string | undefined {
  if (node.type !== "Command" || node.name === undefined) return undefined;
  const name = programName(node.name.value);
  if (name === "cat" && node.args.length === 0) {
    const last = node.redirects.at(-1);
    if (last?.type === "HereDoc") return last.body.text;
    return last?.type === "HereString" && last.target !== undefined ? resolveWord(last.target, scope)[0]?.literal : undefined;
  }
  if (name !== "echo" && name !== "printf") return undefined;
  const words = node.args.flatMap((word) => (word.type === "Word" ? resolveWord(word, scope) : [literalWord(word.text)]));
  if (words.some((word) => word.literal === undefined)) return undefined;
  const texts = words.map((word) => word.literal ?? "");
  if (name === "echo") {
    while (/^-[neE]+$/.test(texts[0] ?? "")) texts.shift();
    return unescape(texts.join(" "));
  }
  const [format = "", ...rest] = texts[0] === "--" ? texts.slice(1) : texts;
  if (!format.includes("%")) return unescape(format);
  return /^(?:%[sb](?:\\n|\s)?)+$/.test(format) ? rest.join("\n") : undefined;
}

function unescape(text: string): string {
  return text
    .replace(/\\n/g, "\n")
    .replace(/\\t/g, "\t")
    .replace(/\\x([0-9a-fA-F]{1,2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\0?([0-7]{1,3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
}
