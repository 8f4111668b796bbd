import type { RuleInForce } from "@gennai/client/governance/rules";
import { builtInChecks } from "./built-in-checks.ts";

export interface GroupedRules {
  /** Rules that decided something, newest first. */
  readonly spoke: readonly RuleInForce[];
  /** Rules in the files of the user and the project, in their order. */
  readonly own: readonly RuleInForce[];
  readonly builtIn: readonly RuleInForce[];
}

/** @param text words that a rule must contain, in any case */
export function groupedRules(rules: readonly RuleInForce[], text: string): GroupedRules {
  const found = rules.filter(({ name, text: said, reason, place }) =>
    hasWords(`${name}\n${said}\n${reason}\n${place}`, text),
  );
  const quiet = found.filter(({ last }) => last === undefined);
  return {
    spoke: found
      .filter(({ last }) => last !== undefined)
      .toSorted((one, other) => (other.last?.getTime() ?? 0) - (one.last?.getTime() ?? 0)),
    own: quiet.filter(({ place }) => place !== ""),
    builtIn: quiet.filter(({ place }) => place === ""),
  };
}

/** The built-in checks that contain these words. */
export function foundChecks(text: string): typeof builtInChecks {
  return builtInChecks.filter(({ group, about }) => hasWords(`${group}/\n${about}`, text));
}

function hasWords(all: string, text: string): boolean {
  const found = all.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => found.includes(word));
}
