import type { RuleInForce } from "@gennai/client/governance/rules";

export interface GroupedRules {
  /** Those that decided something, newest first. */
  readonly spoke: readonly RuleInForce[];
  /** Of the files of the user and the project, in their order. */
  readonly own: readonly RuleInForce[];
  readonly builtIn: readonly RuleInForce[];
}

/** @param text words that all stand somewhere in a rule, in any case */
export function groupedRules(rules: readonly RuleInForce[], text: string): GroupedRules {
  const words = text.toLowerCase().split(/\s+/);
  const found = rules.filter(({ name, text: said, reason, place }) => {
    const all = `${name}\n${said}\n${reason}\n${place}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
  const quiet = found.filter(({ last }) => last === undefined);
  return {
    spoke: found
      .filter(({ last }) => last !== undefined)
      .toSorted((one, other) => (other.last?.getTime() ?? 0) - (one.last?.getTime() ?? 0)),
    own: quiet.filter(({ place }) => place !== ""),
    builtIn: quiet.filter(({ place }) => place === ""),
  };
}
