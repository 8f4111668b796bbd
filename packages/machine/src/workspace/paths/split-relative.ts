/** Names of the directories that lead to an entry, and its own name. `relative` is not the root itself. */
export function splitRelative(relative: string): { readonly parents: readonly string[]; readonly name: string } {
  const components = relative.split("/");
  return { parents: components.slice(0, -1), name: components.at(-1) ?? "" };
}

/** Names from the root down to the path; none for the root. */
export function componentsOf(relative: string): readonly string[] {
  return relative === "" ? [] : relative.split("/");
}
