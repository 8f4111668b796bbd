import { type Identity, isSamePerson } from "@gennai/sessions/users/identity";

/** At most `limit` of one person, the newest: nobody pushes out what another one has. Oldest first, in and out. */
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
