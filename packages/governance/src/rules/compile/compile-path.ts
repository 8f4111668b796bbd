import { foldName } from "../../command/words/fold-name.ts";
import { globMatcher } from "../../glob-matcher.ts";
import { type PathForm, pathForm, type RuleRoots } from "./path-form.ts";
import type { PathRule } from "./rule-set.ts";

/** One component of a rule's path. */
export interface PathPart {
  /** Folded text. */
  readonly text: string;
  /** Undefined for a literal component. */
  readonly glob: ((name: string) => boolean) | undefined;
  /** `**`: any number of components. */
  readonly deep: boolean;
}

/** A path rule, ready for matching. It covers what it names and everything below. */
export interface CompiledPath {
  readonly rule: PathRule;
  /** From the file system's root, from the workspace's root, or at any depth. */
  readonly anchor: "absolute" | "workspace" | "anywhere";
  readonly parts: readonly PathPart[];
  covers(form: PathForm): boolean;
}

/** Environment files that hold no values: a wildcard does not take them in, only their own name does. */
const example = /^\.?.*\.(?:example|sample|template|dist|defaults?)$/;

/**
 * Compiles one path rule. `~/x` and `/x` name one place; `./x` is relative to the workspace; anything else, `x` or `a/b`,
 * matches at any depth. A trailing slash changes nothing: a match always covers everything below.
 */
export function compilePath(rule: PathRule, place: RuleRoots): readonly CompiledPath[] {
  const written = rule.pattern.trim().replaceAll("\\", "/");
  if (/^~(?=\/|$)/.test(written)) {
    return place.homes.map((home) => compiled(rule, "absolute", `${home}/${written.slice(1)}`, place));
  }
  if (written.startsWith("/")) return [compiled(rule, "absolute", written, place)];
  if (written === "." || written.startsWith("./")) return [compiled(rule, "workspace", written.slice(1), place)];
  return [compiled(rule, "anywhere", written, place)];
}

function compiled(rule: PathRule, anchor: CompiledPath["anchor"], path: string, place: RuleRoots): CompiledPath {
  const parts = splitComponents(path).map(pathPart);
  const startsDeep = parts[0]?.deep === true;
  const covers = (form: PathForm): boolean => {
    if (anchor === "absolute") return coversFrom(parts, form.absolute, 0);
    if (anchor === "workspace") return form.relative !== undefined && coversFrom(parts, form.relative, 0);
    // Directories above the workspace are not what a relative rule is about.
    const names = form.relative ?? form.absolute;
    if (startsDeep) return coversFrom(parts, names, 0);
    return names.some((_, index) => coversFrom(parts, names.slice(index), 0));
  };
  // An absolute rule for a place in the workspace must also hold for the workspace's other name.
  if (anchor === "absolute" && parts.every((part) => part.glob === undefined && !part.deep)) {
    const inside = pathForm(path, place.root).relative;
    if (inside !== undefined && inside.length > 0) {
      const relative = inside.map(pathPart);
      return {
        rule,
        anchor,
        parts,
        covers: (form) => covers(form) || (form.relative !== undefined && coversFrom(relative, form.relative, 0)),
      };
    }
  }
  return { rule, anchor, parts, covers };
}

/** True when the parts match the beginning of the names. An empty rule, the root itself, covers everything. */
function coversFrom(parts: readonly PathPart[], names: readonly string[], from: number): boolean {
  const [part, ...rest] = parts;
  if (part === undefined) return true;
  if (part.deep) {
    if (rest.length === 0) return true;
    for (let index = from; index < names.length; index += 1) if (coversFrom(rest, names, index)) return true;
    return false;
  }
  const name = names[from];
  if (name === undefined || !partMatches(part, name)) return false;
  return coversFrom(rest, names, from + 1);
}

function partMatches(part: PathPart, name: string): boolean {
  if (part.glob === undefined) return part.text === name;
  return part.glob(name) && !(name.startsWith(".env") && example.test(name));
}

function pathPart(component: string): PathPart {
  if (component === "**") return { text: "**", glob: undefined, deep: true };
  if (!/[*?[{]/.test(component)) return { text: foldName(component), glob: undefined, deep: false };
  const text = component.normalize("NFC").toLowerCase();
  return { text, glob: globMatcher(text, { noextglob: true }), deep: false };
}

/** Splits at `/`, outside braces; `.` says nothing. */
export function splitComponents(path: string): readonly string[] {
  const parts: string[] = [""];
  let depth = 0;
  for (const character of path) {
    if (character === "{") depth += 1;
    if (character === "}") depth = Math.max(0, depth - 1);
    if (character === "/" && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts.filter((part) => part !== "" && part !== ".");
}
