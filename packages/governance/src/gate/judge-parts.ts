import { shownNames } from "../shown-names.ts";
import type { FoundPart } from "../tool.ts";
import { allow, type Finding, type Verdict } from "../verdict.ts";

/** Rules' verdicts against parts of the work: `deny` refuses them, `ask` asks a user. */
export type AgainstParts = ReadonlyMap<FoundPart, Exclude<Verdict, { readonly type: "allow" }>>;

/**
 * Finds the parts that rules ask about or refuse, by judging smaller and smaller groups. A verdict on many parts together, but
 * on none alone (`many files are deleted`), counts for each of them. Parts not in the result are allowed, also all together.
 *
 * @param whole the verdict on all parts together
 * @param judge the verdict on some of them
 */
export async function judgeParts(
  parts: readonly FoundPart[],
  whole: Verdict,
  judge: (parts: readonly FoundPart[]) => Promise<Verdict>,
): Promise<AgainstParts> {
  const found = new Map<FoundPart, Exclude<Verdict, { readonly type: "allow" }>>();
  await look(parts, whole);
  const rest = parts.filter((part) => !found.has(part));
  const ofRest = rest.length === 0 || rest.length === parts.length ? whole : await judgedAlone(rest);
  if (ofRest.type !== "allow") for (const part of rest) found.set(part, ofRest);
  return found;

  async function look(group: readonly FoundPart[], verdict: Verdict): Promise<void> {
    if (verdict.type === "allow") return;
    const [first] = group;
    if (group.length === 1 && first !== undefined) found.set(first, verdict);
    if (group.length <= 1) return;
    const middle = group.length >> 1;
    for (const half of [group.slice(0, middle), group.slice(middle)]) await look(half, await judgedAlone(half));
  }

  /** Rules say nothing of what has no effects, like an index that names files that are judged themselves. */
  async function judgedAlone(some: readonly FoundPart[]): Promise<Verdict> {
    return some.some(({ effects }) => effects.length > 0) ? judge(some) : allow;
  }
}

/** Paths by rule, for a caller that must do without them. */
export function pathsByRule(against: AgainstParts, type: "ask" | "deny"): string {
  const byRule = new Map<string, { readonly finding: Finding; readonly names: string[] }>();
  for (const [{ name }, verdict] of against) {
    if (verdict.type !== type) continue;
    const { finding } = verdict;
    const known = byRule.get(finding.rule) ?? { finding, names: [] };
    known.names.push(name);
    byRule.set(finding.rule, known);
  }
  return [...byRule].map(([rule, { names }]) => `${shownNames(names)} (rule ${rule})`).join("; ");
}
