import { globMatcher } from "../glob-matcher.ts";

/** One entry of a scope, ready for matching. Paths are relative to the workspace, as components. */
export interface ScopeGlob {
  /** True for `!entry`. */
  readonly excludes: boolean;
  /** True if the entry covers the path, or for some entries a directory above it. */
  matches(path: readonly string[]): boolean;
  /** True when something below the path might match. */
  mayMatchBelow(path: readonly string[]): boolean;
}

export type ScopeGlobResult =
  | { readonly ok: true; readonly glob: ScopeGlob }
  /** `excludes` says what the entry wanted to be: an exclusion that cannot be obeyed makes its intent unusable. */
  | { readonly ok: false; readonly excludes: boolean; readonly problem: string };

const maxEntryLength = 500;
const maxAlternatives = 64;
const maxComponents = 32;

/**
 * Parses one entry of an owned scope. `*`, `?`, `[…]`, `{a,b}` and `**` are special; `(…)` is literal, and a component also
 * matches itself, so that `app/[id]/(group)` works as written. A directory without a glob in its last component covers
 * everything below it, and `*` alone covers everything. Inclusions are case-sensitive. Exclusions match in any case, cover
 * everything below a match, and without a slash apply at any depth.
 *
 * Refused: `..`, home and drive paths, extended globs.
 */
export function scopeGlob(entry: string): ScopeGlobResult {
  const written = entry.trim().normalize("NFC");
  const excludes = written.startsWith("!");
  const problem = (text: string): ScopeGlobResult => ({ ok: false, excludes, problem: text });
  const plain = slashed(excludes ? written.slice(1).trim() : written);
  if (plain === "") return problem("is empty");
  if (plain.length > maxEntryLength) return problem(`is longer than ${maxEntryLength} characters`);
  if (/\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/u.test(plain)) return problem("holds a control or invisible character");
  if (plain.startsWith("!")) return problem("begins with more than one `!`; write one");
  if (/^~|^[a-z]:|^[a-z][a-z0-9+.-]*:\/\//i.test(plain)) return problem("must be relative to the workspace");
  if (/(?<!\\)[?*+@!]\(/.test(slashed(written)))
    return problem("uses an extended glob; write several plain entries instead");

  const alternatives = expandBraces(plain, maxAlternatives);
  if (alternatives === undefined) return problem(`covers more than ${maxAlternatives} paths; write fewer braces`);
  const patterns: Pattern[] = [];
  for (const alternative of alternatives) {
    const names = alternative.split("/").filter((name) => name !== "" && name !== ".");
    if (names.includes("..")) return problem("contains `..`; a scope never leaves the workspace");
    if (names.length > maxComponents) return problem(`has more than ${maxComponents} directories in it`);
    // Alone, it is never meant for only the files in the root.
    if (!excludes && names.length === 1 && names[0] === "*" && !plain.startsWith("/")) names[0] = "**";
    const last = names.at(-1);
    const anyDepth = excludes && names.length === 1 && !plain.startsWith("/");
    patterns.push({
      names: [...(anyDepth ? ["**"] : []), ...names].map((name) =>
        name === "**" ? "**" : nameMatcher(name, excludes),
      ),
      below: excludes || last === undefined || !/[*?[]/.test(last),
    });
  }
  return {
    ok: true,
    glob: {
      excludes,
      matches: (path) => patterns.some((pattern) => reach(pattern, path).matched),
      mayMatchBelow: (path) => patterns.some((pattern) => reach(pattern, path).alive),
    },
  };
}

/**
 * Whether a path matches a pattern (or, with `below`, goes beyond its end), and whether the pattern could continue below the
 * path.
 */
function reach(pattern: Pattern, path: readonly string[]): { readonly matched: boolean; readonly alive: boolean } {
  const { names, below } = pattern;
  let passed = false;
  let places = closed(names, [0]);
  for (const name of path) {
    passed ||= below && places.has(names.length);
    const next: number[] = [];
    for (const place of places) {
      const wanted = names[place];
      if (wanted === "**") next.push(place);
      else if (wanted?.(name) === true) next.push(place + 1);
    }
    places = closed(names, next);
  }
  const matched = passed || places.has(names.length);
  return { matched, alive: matched ? below || [...places].some((place) => place < names.length) : places.size > 0 };
}

/** `**` may match nothing. */
function closed(names: Pattern["names"], places: readonly number[]): ReadonlySet<number> {
  const all = new Set<number>();
  for (const start of places) {
    let place = start;
    all.add(place);
    while (names[place] === "**") all.add((place += 1));
  }
  return all;
}

interface Pattern {
  readonly names: readonly ("**" | ((name: string) => boolean))[];
  readonly below: boolean;
}

function nameMatcher(pattern: string, anyCase: boolean): (name: string) => boolean {
  const fold = (name: string): string => (anyCase ? name.toLowerCase() : name);
  const itself = fold(pattern.replaceAll(/\\(.)/gs, "$1"));
  if (!/[*?[]/.test(pattern)) return (name) => fold(name) === itself;
  const match = globMatcher(escaped(pattern), {
    noextglob: true,
    nobrace: true,
    nocase: anyCase,
  });
  return (name) => fold(name) === itself || match(name);
}

/** Leaves `*`, `?` and classes to the matcher; everything else is literal. */
function escaped(pattern: string): string {
  return pattern
    .replaceAll(/\*+/g, "*")
    .replaceAll(/\[[^\][\\/]+\]|\\.|[^A-Za-z0-9_*?.\-\u0080-\uffff]/gs, (part) =>
      part.length > 1 ? part : `\\${part}`,
    );
}

/** Backslashes separate, as on Windows, but for those that take a bracket's meaning away. */
function slashed(entry: string): string {
  return entry.replaceAll(/\\(?![[\](){}])/g, "/");
}

/** The alternatives of `{a,b}`, including nested ones; undefined if there are more than `limit`. */
function expandBraces(pattern: string, limit: number): readonly string[] | undefined {
  const done: string[] = [];
  const pending = [pattern];
  for (let text = pending.pop(); text !== undefined; text = pending.pop()) {
    const group = firstGroup(text);
    if (group === undefined) {
      done.push(text);
    } else {
      const { start, end, parts } = group;
      for (const part of parts.toReversed()) pending.push(text.slice(0, start) + part + text.slice(end));
    }
    if (done.length + pending.length > limit) return undefined;
  }
  return done;
}

interface Group {
  readonly start: number;
  /** Behind the closing brace. */
  readonly end: number;
  readonly parts: readonly string[];
}

/** The first `{…}` that directly contains a comma; other braces are literal. */
function firstGroup(text: string): Group | undefined {
  const open: { readonly start: number; readonly commas: number[] }[] = [];
  let found: Group | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === "{") open.push({ start: at, commas: [] });
    else if (character === ",") open.at(-1)?.commas.push(at);
    else if (character === "}") {
      const group = open.pop();
      if (group === undefined || group.commas.length === 0) continue;
      const borders = [group.start, ...group.commas, at];
      const parts = borders.slice(1).map((border, index) => text.slice((borders[index] ?? 0) + 1, border));
      // The outer group closes later and is used instead: its content is expanded afterwards.
      if (found === undefined || group.start < found.start) found = { start: group.start, end: at + 1, parts };
      if (open.length === 0) return found;
    }
  }
  return found;
}
