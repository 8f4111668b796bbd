import type { PathProtection } from "@gennai/protocol/model/governance/rule-kind";
import type { NamedPolicy } from "../../verdict.ts";

/** Origin of rules, from the lowest layer up. A layer can only add: none removes a rule of another. */
export type RuleLayer = "floor" | "managed" | "user" | "project";

/** What every rule has. */
export interface NamedRule {
  /** E.g. `rules/project/12` or `rules/user/no-prod`. */
  readonly name: string;
  /** `file:line`. */
  readonly place: string;
  /** The policy of root that lays it down; absent for others. */
  readonly policy?: NamedPolicy;
}

/** A pattern that commands are matched against. */
export interface PatternRule extends NamedRule {
  /** As it stands in the file. */
  readonly pattern: string;
  readonly reason: string;
  /** True: a person may allow it. */
  readonly ask: boolean;
  /** Commands it must match, and commands it must not; checked when the file is loaded. */
  readonly match: readonly string[];
  readonly notMatch: readonly string[];
}

/** A path or glob that is protected. */
export interface PathRule extends NamedRule {
  readonly protection: PathProtection;
  readonly pattern: string;
}

/** A tool that is never called, by its name in lower case. */
export interface DeniedTool extends NamedRule {
  readonly tool: string;
}

/** One rule file, parsed. */
export interface RuleFile {
  readonly layer: RuleLayer;
  readonly file: string;
  readonly patterns: readonly PatternRule[];
  readonly paths: readonly PathRule[];
  readonly tools: readonly DeniedTool[];
  /** Effect of invalid rules: `read-only` stops everything that changes something; only the user's own file may say otherwise. */
  readonly onInvalidRules: "read-only" | "continue" | undefined;
}

/** A problem in a rule file. `error`: a rule is not in force as intended. */
export interface RuleProblem {
  readonly severity: "error" | "warning";
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  /** Name of the rule, or of the key; empty for the file as a whole. */
  readonly rule: string;
  /** What is wrong and what to do. */
  readonly message: string;
}

/** `file:line: rule: message`. */
export function describeRuleProblem({ file, line, rule, message }: RuleProblem): string {
  return [`${file}:${line}`, rule, message].filter((part) => part !== "").join(": ");
}

export function countRules(files: readonly RuleFile[]): number {
  return files.reduce((sum, file) => sum + file.patterns.length + file.paths.length + file.tools.length, 0);
}
