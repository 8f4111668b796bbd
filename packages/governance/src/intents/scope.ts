import { type ScopeGlob, scopeGlob } from "./scope-glob.ts";

/** The paths an intent may touch. */
export interface Scope {
  /** @param path relative to the workspace, with `/`; empty for the root */
  owns(path: string): boolean;
  /** Whether the scope owns everything that a directory, or a glob below it, may contain: all, none, or unknown. */
  ownsBelow(path: string): "all" | "none" | "some";
}

const compiled = new WeakMap<readonly string[], Scope>();

/**
 * The scope of a list of entries. Exclusions win wherever they are; a list without inclusions owns nothing. An invalid entry
 * owns nothing; if it is an exclusion, the whole list owns nothing.
 */
export function scopeOf(entries: readonly string[]): Scope {
  const known = compiled.get(entries);
  if (known !== undefined) return known;
  const globs: ScopeGlob[] = [];
  let broken = false;
  for (const entry of entries) {
    const result = scopeGlob(entry);
    if (result.ok) globs.push(result.glob);
    else broken ||= result.excludes;
  }
  const included = broken ? [] : globs.filter(({ excludes }) => !excludes);
  const excluded = globs.filter(({ excludes }) => excludes);
  const scope: Scope = {
    owns(path) {
      const names = namesOf(path);
      return names !== undefined && included.some(matches(names)) && !excluded.some(matches(names));
    },
    ownsBelow(path) {
      const names = namesOf(path);
      if (names === undefined || excluded.some(matches(names))) return "none";
      if (!included.some((glob) => glob.matches(names) || glob.mayMatchBelow(names))) return "none";
      return scopeOwnsTree(included, names) && !excluded.some((glob) => glob.mayMatchBelow(names)) ? "all" : "some";
    },
  };
  compiled.set(entries, scope);
  return scope;
}

/** A name that no file can have: what matches it below a directory matches every name there, at every depth. */
const anyName = "\u{10FFFF}";

function scopeOwnsTree(included: readonly ScopeGlob[], names: readonly string[]): boolean {
  return included.some(
    (glob) => glob.matches(names) && glob.matches([...names, anyName]) && glob.matches([...names, anyName, anyName]),
  );
}

function matches(names: readonly string[]): (glob: ScopeGlob) => boolean {
  return (glob) => glob.matches(names);
}

/** undefined for a path that no scope can hold. */
function namesOf(path: string): readonly string[] | undefined {
  const names = path
    .normalize("NFC")
    .split("/")
    .filter((name) => name !== "" && name !== ".");
  return names.includes("..") ? undefined : names;
}
