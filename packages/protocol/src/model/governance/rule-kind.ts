import { RuleKind } from "../../gen/gennai/agent/v1/governance_pb.ts";
import { EnumWords } from "../enum-words.ts";

/** What may be done to a path. */
export type PathAction = "read" | "write" | "delete";

/** A kind of rule about paths: what it forbids, its key in rule files, and the words for it. */
interface PathRuleKind {
  readonly message: RuleKind;
  /** In rule files. */
  readonly key: string;
  readonly forbids: readonly PathAction[];
  /** In lists of rules. */
  readonly title: string;
  readonly reason: string;
  /** After the path, where a call breaks it. */
  readonly broken: string;
}

/** Each key of rule files about paths, once; the strictest first. */
export const pathRuleKinds = {
  zero: {
    message: RuleKind.ZERO_ACCESS,
    key: "zeroAccessPaths",
    forbids: ["read", "write", "delete"],
    title: "No access",
    reason: "Nobody sees or touches it.",
    broken: "may not be accessed at all",
  },
  readOnly: {
    message: RuleKind.READ_ONLY,
    key: "readOnlyPaths",
    forbids: ["write", "delete"],
    title: "Read only",
    reason: "It is never changed.",
    broken: "is read-only",
  },
  noDelete: {
    message: RuleKind.NO_DELETE,
    key: "noDeletePaths",
    forbids: ["delete"],
    title: "Never deleted",
    reason: "It is never deleted.",
    broken: "must not be deleted",
  },
} as const satisfies Readonly<Record<string, PathRuleKind>>;

export type PathProtection = keyof typeof pathRuleKinds;

export const pathProtections: readonly PathProtection[] = Object.keys(pathRuleKinds).filter(
  (word): word is PathProtection => Object.hasOwn(pathRuleKinds, word),
);

/** Protections that forbid `action` on a path. With `permits`, only those that do not forbid that action as well. */
export function protectionsAgainst(
  action: PathAction,
  { permits }: { readonly permits?: PathAction } = {},
): readonly PathProtection[] {
  return pathProtections.filter((protection) => {
    const forbids: readonly PathAction[] = pathRuleKinds[protection].forbids;
    return forbids.includes(action) && (permits === undefined || !forbids.includes(permits));
  });
}

/** `code`: a rule that is in no file, e.g. that of protected branches. */
export type RuleKindWord = "command" | PathProtection | "tool" | "code";

export const ruleKindWords = new EnumWords<RuleKindWord, RuleKind>({
  command: RuleKind.COMMAND,
  ...eachPathRule(({ message }) => message),
  tool: RuleKind.TOOL,
  code: RuleKind.CODE,
});

export const ruleKindTitles: Readonly<Record<RuleKindWord, string>> = {
  command: "Command",
  ...eachPathRule(({ title }) => title),
  tool: "Tool",
  code: "Rule",
};

function eachPathRule<Value>(of: (kind: PathRuleKind) => Value): Readonly<Record<PathProtection, Value>>;
function eachPathRule(of: (kind: PathRuleKind) => unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(pathProtections.map((protection) => [protection, of(pathRuleKinds[protection])]));
}
