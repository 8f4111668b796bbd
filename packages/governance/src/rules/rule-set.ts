import type { PathProtection } from "@gennai/protocol/model/governance/rule-kind";

/** Where rules come from, weakest author first. A layer can only add: no layer takes a rule of another away. */
export type RuleLayer = "floor" | "user" | "project";

/** A pattern that commands are matched against. */
export interface PatternRule {
  /** E.g. `rules/project/12` or `rules/user/no-prod`. */
  readonly name: string;
  /** As it stands in the file. */
  readonly pattern: string;
  readonly reason: string;
  /** True: a person may allow it. */
  readonly ask: boolean;
  /** Commands it must match, and commands it must not; checked when the file is loaded. */
  readonly match: readonly string[];
  readonly notMatch: readonly string[];
  /** `file:line`. */
  readonly place: string;
}

/** A path or glob that is protected. */
export interface PathRule {
  readonly name: string;
  readonly protection: PathProtection;
  readonly pattern: string;
  readonly place: string;
}

/** A tool that is never called, by its name in lower case. */
export interface DeniedTool {
  readonly name: string;
  readonly tool: string;
  readonly place: string;
}

/** One rule file, parsed. */
export interface RuleFile {
  readonly layer: RuleLayer;
  readonly file: string;
  readonly patterns: readonly PatternRule[];
  readonly paths: readonly PathRule[];
  readonly tools: readonly DeniedTool[];
  /** What bad rules do: `read-only` stops everything that changes something; only the user's own file may say otherwise. */
  readonly onInvalidRules: "read-only" | "continue" | undefined;
}

/** What is wrong with a rule file. An `error` means that a rule somebody wrote is not in force as it was meant. */
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
