import { pathRuleKinds, type RuleKindWord } from "@gennai/protocol/model/governance/rule-kind";
import type { RuleFile } from "./compile/rule-set.ts";
import type { LedgerActivity, RuleActivity } from "./rule-activity.ts";

/** A rule in force, for people. */
export interface ListedRule {
  /** Its name in decisions and records. */
  readonly name: string;
  /** `code`: it is in no rule file, e.g. that of protected branches. */
  readonly kind: RuleKindWord;
  /** The pattern, path or tool as written in its file; empty for a rule in code. */
  readonly text: string;
  readonly reason: string;
  /** undefined: a rule of the code, which may say either. */
  readonly verdict: "ask" | "deny" | undefined;
  /** `file:line`; empty if it is in no file that a user could open. */
  readonly place: string;
  readonly activity: RuleActivity;
}

export interface ListedRules {
  readonly rules: readonly ListedRule[];
  /** Calls from which it is known what the rules did. */
  readonly callsLookedAt: number;
}

const quiet: RuleActivity = { refused: 0, allowed: 0, last: undefined };

/** Every rule of the files in their order, then those of the code that decided something lately. */
export function listedRules(files: readonly RuleFile[], { rules: activity, calls }: LedgerActivity): ListedRules {
  const listed = files
    .flatMap((file) => rulesOf(file))
    .map((rule) => ({
      ...rule,
      activity: activity.get(rule.name) ?? quiet,
    }));
  const known = new Set(listed.map(({ name }) => name));
  const ofCode = [...activity]
    .filter(([name]) => !known.has(name))
    .map(([name, did]) => ({ ...ruleOfCode(name), activity: did }))
    .toSorted((one, other) => one.name.localeCompare(other.name));
  return { rules: [...listed, ...ofCode], callsLookedAt: calls };
}

type Unwatched = Omit<ListedRule, "activity">;

function rulesOf(file: RuleFile): readonly Unwatched[] {
  const placed = (place: string): string => (file.layer === "floor" ? "" : place);
  return [
    ...file.patterns.map(
      ({ name, pattern, reason, ask, place }): Unwatched => ({
        name,
        kind: "command",
        text: pattern,
        reason,
        verdict: ask ? "ask" : "deny",
        place: placed(place),
      }),
    ),
    ...file.paths.map(
      ({ name, protection, pattern, place }): Unwatched => ({
        name,
        kind: protection,
        text: pattern,
        reason: pathRuleKinds[protection].reason,
        verdict: "deny",
        place: placed(place),
      }),
    ),
    ...file.tools.map(
      ({ name, tool, place }): Unwatched => ({
        name,
        kind: "tool",
        text: tool,
        reason: "It is never called.",
        verdict: "deny",
        place: placed(place),
      }),
    ),
  ];
}

function ruleOfCode(name: string): Unwatched {
  return { name, kind: "code", text: "", reason: "", verdict: undefined, place: "" };
}
