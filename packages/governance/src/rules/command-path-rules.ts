import { type PathProtection, pathRuleKinds, protectionsAgainst } from "@gennai/protocol/model/governance/rule-kind";
import type { CommandAnalysis, CommandPath, SimpleCommand } from "../command-analysis.ts";
import type { Effect } from "../effect.ts";
import { isInterpreter } from "../programs/interpreters.ts";
import { programNamed } from "../programs/known-programs.ts";
import { globReach } from "./compile/aimed-glob.ts";
import { type CompiledRules, excepted, pathRule, ruleBelow } from "./compile/compile-rules.ts";
import { type PathForm, pathForm } from "./compile/path-form.ts";
import type { PathRule } from "./compile/rule-set.ts";

/** A path rule that a command breaks. */
export interface PathFinding {
  readonly rule: PathRule;
  /** The path as the command names it. */
  readonly raw: string;
  /** What would happen to it, e.g. `is deleted`. */
  readonly what: string;
}

/**
 * Path rules that a command breaks. Zero-access paths must not be named; read-only ones only read; undeletable ones neither
 * deleted, moved away nor overwritten completely. Of a staged command, what a path is to it is judged when it is known.
 */
export function commandPathFindings(
  { command, cwd, staged = false }: Effect & { readonly type: "exec" },
  rules: CompiledRules,
): readonly PathFinding[] {
  const findings: PathFinding[] = [];
  const add = (rule: PathRule | undefined, raw: string, what: string): void => {
    if (rule !== undefined && !findings.some((known) => known.rule === rule && known.raw === raw)) {
      findings.push({ rule, raw, what });
    }
  };
  const check = (protections: readonly PathProtection[], path: CommandPath, more = ""): void => {
    for (const protection of protections) {
      add(reached(rules, protection, path), path.raw, `${pathRuleKinds[protection].broken}${more}`);
    }
  };
  const againstDelete = protectionsAgainst("delete", { permits: "read" });
  for (const path of command.paths) {
    check(protectionsAgainst("read"), path);
    if (command.readsOnly) continue;
    if (changes(path, command, staged)) {
      check(protectionsAgainst("write", { permits: "read" }), path, " and the command is not proven to only read it");
    }
    if (path.access === "delete") {
      check(againstDelete, path);
      const below = againstDelete.toReversed().flatMap((each) => ruleBelow(rules, each, path.absolute) ?? []);
      add(below[0], path.raw, "holds what must not be deleted");
    } else if (path.access === "write" && overwrites(path, command)) {
      check(protectionsAgainst("delete", { permits: "write" }), path, ", and this overwrites it");
    }
  }
  if (!command.readsOnly) {
    for (const name of deletedByFind(command.commands)) {
      const absolute = `${cwd.absolute}/${name}`;
      check(againstDelete.toReversed(), { raw: name, absolute, access: "delete", pattern: true });
    }
  }
  return findings;
}

function reached(rules: CompiledRules, protection: PathProtection, path: CommandPath): PathRule | undefined {
  const form = pathForm(path.absolute, rules.place.root);
  if (path.pattern !== true) {
    const rule = pathRule(rules, protection, [form]);
    // A bare word like `build` in `npm run build` is seldom the directory of that name.
    return rule !== undefined && path.access === "unknown" && isBareWord(path.raw) && protection !== "zero"
      ? undefined
      : rule;
  }
  return reachedByGlob(rules, protection, path, form);
}

function reachedByGlob(
  rules: CompiledRules,
  protection: PathProtection,
  path: CommandPath,
  form: PathForm,
): PathRule | undefined {
  // `*` in the workspace's root covers everything; in a directory below, it refers to what is there.
  const atRoot = form.relative !== undefined && form.relative.length <= 1;
  const broadCounts = atRoot && protection !== "zero" && (path.access === "delete" || path.access === "write");
  const literalPart = form.absolute.findIndex((name) => /[*?[{]/.test(name));
  const directory = {
    absolute: form.absolute.slice(0, literalPart < 0 ? undefined : literalPart),
    relative: form.relative?.slice(0, Math.max(0, literalPart - (form.absolute.length - form.relative.length))),
  };
  const named = pathRule(rules, protection, [directory]);
  if (named !== undefined) return named;
  // Names may be listed; and in a word of unknown meaning, `*` alone says nothing.
  if (path.access === "list" || (path.access === "unknown" && form.absolute.at(-1) === "*")) return undefined;
  for (const group of rules.groups) {
    if (group.protection !== protection) continue;
    for (const compiled of group.paths) {
      if (
        compiled.anchor === "absolute" &&
        !sameDirectory(
          compiled.parts.map((part) => part.text),
          form.absolute,
        )
      ) {
        continue;
      }
      const reach = globReach(form.absolute.at(-1) ?? "", compiled, { dot: false });
      if (reach === "aimed" && !excepted(group, form)) return compiled.rule;
      if (reach === "broad" && broadCounts) return compiled.rule;
    }
  }
  return undefined;
}

function sameDirectory(rule: readonly string[], glob: readonly string[]): boolean {
  return rule.length === glob.length && rule.slice(0, -1).every((name, index) => glob[index] === name);
}

function isBareWord(raw: string): boolean {
  return !/[/\\.~$]/.test(raw);
}

/** Whether the command may change the path: it writes it, or its effect is unknown. */
function changes(path: CommandPath, command: CommandAnalysis, staged: boolean): boolean {
  switch (path.access) {
    case "write":
    case "delete":
      return true;
    case "read":
    case "list":
      return false;
    case "unknown":
      return !staged && !isScript(path.raw, command.commands);
  }
}

/** The program text that an interpreter runs is read by it. */
function isScript(raw: string, commands: readonly SimpleCommand[]): boolean {
  return commands.some(
    ({ name, words }) =>
      isInterpreter(name) && words.find((word) => word === undefined || !word.startsWith("-")) === raw,
  );
}

/** Whether a write replaces the whole content: not an append, and not an edit in place. */
function overwrites(path: CommandPath, command: CommandAnalysis): boolean {
  const redirected = redirectionsTo(path.raw, command.text);
  if (redirected.length > 0) return redirected.some((operator) => !operator.includes(">>"));
  const by = command.commands.filter(({ words }) =>
    words.some((word) => word === path.raw || word === undefined || word.endsWith(`=${path.raw}`)),
  );
  if (by.length === 0) return true;
  return by.some(({ name, words }) => {
    if (name === "tee") return !words.some((word) => word === "--append" || /^-[a-z]*a/.test(word ?? ""));
    if (name === "git") return words.some((word) => /^--output/.test(word ?? ""));
    return programNamed(name)?.edits !== true;
  });
}

/** Operators in front of this very word. */
function redirectionsTo(raw: string, text: string): readonly string[] {
  const operators: string[] = [];
  for (let at = text.indexOf(raw); at >= 0; at = text.indexOf(raw, at + 1)) {
    const before = /(?:&>>|&>|>>|>\||>&?|<>)\s*$/.exec(text.slice(0, at));
    if (before !== null) operators.push(before[0].trim());
  }
  return operators;
}

/** Names that `find … -delete` looks for. */
function deletedByFind(commands: readonly SimpleCommand[]): readonly string[] {
  return commands.flatMap(({ name, words }, index) => {
    if (!/^g?find$/.test(name)) return [];
    const removes = commands
      .slice(index + 1)
      .some((other) => other.wrappers.at(-1) === name && /^(?:rm|unlink|shred|mv)$/.test(other.name));
    if (!removes && !words.includes("-delete")) return [];
    return words.flatMap((word, at) =>
      /^-i?(?:name|path|wholename)$/.test(words[at - 1] ?? "") && word ? [word] : [],
    );
  });
}
