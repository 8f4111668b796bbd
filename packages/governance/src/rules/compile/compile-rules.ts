import { digestOf } from "@gennai/protocol/digest";
import { type PathProtection, pathProtections } from "@gennai/protocol/model/governance/rule-kind";
import { type CompiledPath, compilePath } from "./compile-path.ts";
import { type CompiledPattern, compilePattern, matchesEverything, PatternError } from "./compile-pattern.ts";
import { type PathForm, pathForm, type RuleRoots } from "./path-form.ts";
import {
  countRules,
  type DeniedTool,
  type PathRule,
  type PatternRule,
  type RuleFile,
  type RuleProblem,
} from "./rule-set.ts";

export interface ReadyPattern {
  readonly rule: PatternRule;
  readonly compiled: CompiledPattern;
}

/** Path rules of one file and one protection, with the exceptions (`!path`) that the same list makes. */
export interface PathGroup {
  readonly protection: PathProtection;
  readonly paths: readonly CompiledPath[];
  readonly exceptions: readonly CompiledPath[];
}

/** All layers together, immutable: a decision works on one of these from its beginning to its end. */
export interface CompiledRules {
  readonly count: number;
  readonly patterns: readonly ReadyPattern[];
  readonly groups: readonly PathGroup[];
  /** Rule by denied tool, in lower case. */
  readonly tools: ReadonlyMap<string, DeniedTool>;
  readonly place: RuleRoots;
  /** Set when rule files could not be used: nothing may be changed until a person mends them. */
  readonly readOnly: string | undefined;
  /** Globs, gitignore-like and relative to the workspace, of what no search may reach. */
  readonly searchExcludes: readonly string[];
  /** SHA-256 of everything that decides. */
  readonly sha256: string;
  /** The same without the place: equal for the same rules over workspaces that lie elsewhere. */
  readonly contentSha256: string;
}

export interface CompileOptions {
  readonly place: RuleRoots;
  /** Why everything is read-only, if it is. */
  readonly readOnly?: string;
}

/** The layers are put together anew whenever one of their files changed, and most patterns are as they were. */
const compiledBefore = new WeakMap<PatternRule, CompiledPattern>();

function compileOnce(rule: PatternRule): CompiledPattern {
  const compiled = compiledBefore.get(rule) ?? compilePattern(rule.pattern);
  compiledBefore.set(rule, compiled);
  return compiled;
}

/** The floor's own are known to be good, and most sessions begin without a command: they are compiled when one is judged. */
function compiledLater(rule: PatternRule): ReadyPattern {
  return {
    rule,
    get compiled() {
      return compileOnce(rule);
    },
  };
}

/** Compiles the patterns of a file. A bad one is a problem that names its line and rule; the others stay. */
export function compilePatterns(file: RuleFile): {
  readonly patterns: readonly ReadyPattern[];
  readonly problems: readonly RuleProblem[];
} {
  if (file.layer === "floor") return { patterns: file.patterns.map(compiledLater), problems: [] };
  const patterns: ReadyPattern[] = [];
  const problems: RuleProblem[] = [];
  for (const rule of file.patterns) {
    const at = { file: file.file, line: Number(/:(\d+)$/.exec(rule.place)?.[1] ?? 1), rule: rule.name };
    try {
      const compiled = compileOnce(rule);
      patterns.push({ rule, compiled });
      if (matchesEverything(compiled)) {
        problems.push({
          ...at,
          severity: "warning",
          message: `pattern ${JSON.stringify(rule.pattern)} matches every command`,
        });
      }
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      problems.push({ ...at, severity: "error", message: `pattern ${error.message}` });
    }
  }
  return { patterns, problems };
}

/** Puts the layers together. What does not compile is left out here; `compilePatterns` has reported it. */
export function compileRules(files: readonly RuleFile[], options: CompileOptions): CompiledRules {
  const { place, readOnly } = options;
  const tools = new Map<string, DeniedTool>();
  for (const file of files) for (const denied of file.tools) tools.set(denied.tool, tools.get(denied.tool) ?? denied);
  const content = { readOnly: readOnly ?? null, files: files.map(digested) };
  return {
    count: countRules(files),
    patterns: files.flatMap((file) => compilePatterns(file).patterns),
    groups: files.flatMap((file) => pathGroups(file, place)),
    tools,
    place,
    readOnly,
    searchExcludes: [...new Set(files.flatMap((file) => file.paths.flatMap((rule) => searchExclude(rule))))],
    sha256: digestOf({ ...content, place: { ...place } }),
    contentSha256: digestOf(content),
  };
}

/** The rule that protects a path in this way; the first one in the order of the layers. */
export function pathRule(
  rules: CompiledRules,
  protection: PathProtection,
  forms: readonly PathForm[],
): PathRule | undefined {
  for (const group of rules.groups) {
    if (group.protection !== protection) continue;
    for (const path of group.paths) {
      if (forms.some((form) => path.covers(form) && !excepted(group, form))) return path.rule;
    }
  }
  return undefined;
}

export function excepted(group: PathGroup, form: PathForm): boolean {
  return group.exceptions.some((exception) => exception.covers(form));
}

/** The rule for a path below a directory: deleting the directory deletes that path too. */
export function ruleBelow(rules: CompiledRules, protection: PathProtection, absolute: string): PathRule | undefined {
  const directory = pathForm(absolute, rules.place.root);
  for (const { protection: kind, paths } of rules.groups) {
    if (kind !== protection) continue;
    for (const { rule, anchor, parts } of paths) {
      const names = anchor === "absolute" ? directory.absolute : directory.relative;
      if (names === undefined || names.length >= parts.length) continue;
      if (anchor === "anywhere" && (parts.length < 2 || names.length === 0)) continue;
      if (names.every((name, index) => parts[index]?.glob === undefined && parts[index]?.text === name)) return rule;
    }
  }
  return undefined;
}

function pathGroups(file: RuleFile, place: RuleRoots): readonly PathGroup[] {
  return pathProtections.flatMap((protection) => {
    const own = file.paths.filter((rule) => rule.protection === protection);
    const paths = own.filter((rule) => !isException(rule)).flatMap((rule) => compilePath(rule, place));
    if (paths.length === 0) return [];
    const exceptions = own
      .filter(isException)
      .flatMap((rule) => compilePath({ ...rule, pattern: rule.pattern.slice(1) }, place));
    return [{ protection, paths, exceptions }];
  });
}

function isException(rule: PathRule): boolean {
  return rule.pattern.startsWith("!");
}

function searchExclude(rule: PathRule): readonly string[] {
  const pattern = rule.pattern.trim().replaceAll("\\", "/").replace(/\/+$/, "");
  if (rule.protection !== "zero" || isException(rule) || /^[~/]/.test(pattern) || pattern === "") return [];
  if (pattern === "." || pattern.startsWith("./")) return [`/${pattern.slice(2)}`];
  return [pattern.startsWith("**/") ? pattern : `**/${pattern}`];
}

function digested(file: RuleFile): Record<string, unknown> {
  return {
    layer: file.layer,
    patterns: file.patterns.map(({ name, pattern, reason, ask }) => ({ name, pattern, reason, ask })),
    paths: file.paths.map(({ protection, pattern }) => ({ protection, pattern })),
    tools: file.tools.map(({ tool }) => tool),
  };
}
