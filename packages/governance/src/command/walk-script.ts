import {
  type AndOr,
  type Assignment,
  type Command,
  type For,
  forEachChild,
  type ParsedScript,
  type Pipeline,
  parse,
  type Redirection,
  type Select,
  type SyntaxNode,
  type Word,
} from "unbash";
import type { AnalysisReport } from "./analysis-report.ts";
import { judgeVariable } from "./dangers/environment.ts";
import { callsItself } from "./dangers/fork-bomb.ts";
import { interpretCommand } from "./interpret-command.ts";
import { redirections } from "./redirections.ts";
import { changeScope, conditionally } from "./track-variables.ts";
import { type CommandInput, type Invocation, inheritedInput, type Place, programName } from "./words/invocation.ts";
import { printedText } from "./words/printed-text.ts";
import { programsIn } from "./words/programs-in.ts";
import { literalWord, type ResolvedWord, resolveWord } from "./words/resolve-word.ts";
import { assign, forget, mergeDirectories, type ShellScope, subshell } from "./words/shell-scope.ts";

/** State of a walk. */
interface Walk {
  readonly report: AnalysisReport;
  readonly place: Place;
  /** Shells and interpreters around this script, outermost first. */
  readonly wrappers: readonly string[];
  readonly depth: number;
}

/** Nested scripts deeper than this are not followed. */
const deepest = 16;

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
      if (scope.directories !== before && !mergeDirectories(scope, before))
        walk.report.unresolved("too many possible directories");
      return;
    }
    case "AndOr":
      visitAndOr(node, scope, walk, input);
      return;
    case "Pipeline":
      visitPipeline(node, scope, walk, input);
      return;
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
      const redirected = redirectionsOf(node.redirects, scope, walk) ?? input;
      visit(node.command, scope, walk, redirected);
      return;
    }
    case "Function":
      scope.functions.add(node.name.value);
      if (callsItself(node.body, node.name.value))
        walk.report.refuse("floor/fork-bomb", "This function starts itself again and again.");
      conditionally(scope, node.body, () => visit(node.body, scope, walk, inheritedInput));
      return;
    case "For":
    case "Select":
      visitLoop(node, scope, walk, input);
      return;
    case "If":
    case "While":
    case "Case":
    case "ArithmeticFor":
      conditionally(scope, node, () => forEachChild(node, (child) => visit(child, scope, walk, input)));
      return;
    case "Coproc":
      visit(node.body, subshell(scope), walk, inheritedInput);
      return;
    case "ArithmeticCommand":
      likeCommand(node.body, scope, walk);
      forEachChild(node, (child) => visit(child, scope, walk, input));
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
      redirectionsOf([node], scope, walk);
      return;
    default:
      visitPart(node, scope, walk, input);
  }
}

function visitAndOr(node: AndOr, scope: ShellScope, walk: Walk, input: CommandInput): void {
  const seen: (readonly string[])[] = [scope.directories];
  const conditional = scope.conditional;
  let alternatives = false;
  for (const [index, command] of node.commands.entries()) {
    // After `||`, each of the earlier commands may have been the one that ran.
    if (index > 0 && node.operators[index - 1] === "||") alternatives = true;
    if (alternatives) for (const directories of seen) mergeDirectories(scope, directories);
    if (index > 0) scope.conditional = true;
    visit(command, scope, walk, input);
    seen.push(scope.directories);
  }
  scope.conditional = conditional;
  for (const directories of seen) mergeDirectories(scope, directories);
}

function visitPipeline(node: Pipeline, scope: ShellScope, walk: Walk, input: CommandInput): void {
  let from = input;
  const sources: string[] = [];
  for (const command of node.commands) {
    visit(command, node.commands.length > 1 ? subshell(scope) : scope, walk, from);
    sources.push(...programsIn(command));
    from = { type: "pipe", text: printedText(command, scope), sources: [...sources] };
  }
}

function visitLoop(node: For | Select, scope: ShellScope, walk: Walk, input: CommandInput): void {
  visitWord(node.name, scope, walk);
  const values: ResolvedWord[] = [];
  for (const word of node.wordlist ?? []) {
    visitWord(word, scope, walk);
    values.push(...resolveWord(word, scope));
  }
  const known = node.wordlist !== undefined && values.every((value) => value.kind === "literal");
  conditionally(scope, node.body, () => {
    forget(scope, node.name.value);
    scope.variables.set(node.name.value, {
      values: values.flatMap((value) => value.forms).slice(0, 32),
      certain: known && values.length <= 32,
    });
    visit(node.body, scope, walk, input);
  });
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
    case "ArithmeticExpansion":
      likeCommand(node.text.slice(3, -2), scope, walk);
      break;
    case "ParameterExpansion":
      if (node.operation?.type === "Default" && node.operation.operator.includes("=")) forget(scope, node.parameter);
      break;
    default:
      break;
  }
  forEachChild(node, (child) => visit(child, scope, walk, input));
}

function visitWord(word: Word, scope: ShellScope, walk: Walk): void {
  if (word.parts === undefined) return;
  for (const part of word.parts) visitPart(part, scope, walk, inheritedInput);
}

/** Two adjacent words are no arithmetic: a shell may take the parentheses for subshells. */
function likeCommand(body: string, scope: ShellScope, walk: Walk): void {
  if (!/[^\s=<>!&|+*/%^,?:(-]\s+-{0,2}[\w"'$./~]/.test(body)) return;
  walk.report.unresolved("arithmetic that reads like a command");
  walkScript(body, subshell(scope), { ...walk, depth: walk.depth + 1 });
}

function visitAssignment(node: Assignment, scope: ShellScope, walk: Walk): string | undefined {
  if (node.index !== undefined) visitWord(node.index, scope, walk);
  if (node.value.type === "ArrayValue") {
    for (const element of node.value.elements) visitWord(element, scope, walk);
    forget(scope, node.name);
    return undefined;
  }
  visitWord(node.value, scope, walk);
  const values = resolveWord(node.value, scope);
  const [first] = values;
  // No braces or globs are expanded in an assignment: the source is the value.
  return values.length === 1 && first?.kind === "literal" && node.append !== true && node.index === undefined
    ? first.literal
    : undefined;
}

function visitCommand(node: Command, scope: ShellScope, walk: Walk, pipe: CommandInput): void {
  const { report, place } = walk;
  if (node.name === undefined) {
    for (const item of node.prefix) {
      if (item.type !== "Assignment") continue;
      const value = visitAssignment(item, scope, walk);
      judgeVariable(item.name, value, report);
      assign(scope, item.name, value);
    }
    redirectionsOf(node.redirects, scope, walk);
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
    words.push(
      value === undefined
        ? { raw: argument.text, kind: "dynamic", literal: undefined, forms: [`${argument.name}=*`] }
        : { ...literalWord(`${argument.name}=${value}`), raw: argument.text },
    );
  }
  const input = redirectionsOf(node.redirects, scope, walk) ?? pipe;
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
      walkScript(
        text,
        { ...subshell(scope), directories },
        { ...walk, wrappers: [...walk.wrappers, wrapper], depth: walk.depth + 1 },
      ),
  });
  changeScope(invocation, scope, report, place);
}

function commandPosition(name: Word): string {
  if (name.parts?.some((part) => part.type === "CommandExpansion")) return "a substitution in command position";
  if (name.parts?.some((part) => part.type === "Glob" || part.type === "ExtendedGlob"))
    return "a wildcard in command position";
  if (name.parts?.some((part) => part.type === "BraceExpansion")) return "braces in command position";
  return "a variable in command position";
}

function redirectionsOf(nodes: readonly Redirection[], scope: ShellScope, walk: Walk): CommandInput | undefined {
  return redirections(nodes, scope, { ...walk, visitPart: (part) => visitPart(part, scope, walk, inheritedInput) });
}
