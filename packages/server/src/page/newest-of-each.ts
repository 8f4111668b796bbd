import { type Identity, isSamePerson } from "@gennai/sessions/session/identity";

/**
 * Keeps at most `limit` entries per person, the newest: no one displaces another's entries. Input and result are oldest first.
 */
export function newestOfEach<Kept extends { readonly identity: Identity }>(
  kept: readonly Kept[],
  limit: number,
): readonly Kept[] {
  const last = kept.at(-1);
  if (last === undefined) return kept;
  const theirs = kept.filter(({ identity }) => isSamePerson(identity, last.identity));
  const gone = new Set(theirs.slice(0, -limit));
  return kept.filter((each) => !gone.has(each));
}
