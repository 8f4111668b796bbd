import type { OfferedPart } from "./question.ts";

type Needs = Pick<OfferedPart, "id" | "needs">;

/** Ids of parts that are not kept when some are not: these, and those that need them. Ids of no part are left out. */
export function closedUnderNeeds(parts: readonly Needs[], dropped: readonly string[]): ReadonlySet<string> {
  const gone = new Set(parts.map(({ id }) => id).filter((id) => dropped.includes(id)));
  for (let before = -1; gone.size !== before; ) {
    before = gone.size;
    for (const { id, needs } of parts) if (needs.some((need) => gone.has(need))) gone.add(id);
  }
  return gone;
}

/** Ids of what is dropped when only what nobody has to be asked about is kept; undefined where nothing would be left. */
export function droppedForRest(parts: readonly OfferedPart[]): readonly string[] | undefined {
  const asked = parts.filter(({ rule }) => rule !== "").map(({ id }) => id);
  const dropped = closedUnderNeeds(parts, asked);
  return asked.length === 0 || dropped.size === parts.length ? undefined : [...dropped];
}
