import type { Word, WordPart } from "unbash";
import { programsIn } from "./programs-in.ts";
import type { ShellScope } from "./shell-scope.ts";

/** A word of a command after the shell's expansions, as far as they can be known without running it. */
export interface ResolvedWord {
  /** As written in the source. */
  readonly raw: string;
  /**
   * `literal`: exactly one value. `choice`: one of the literal values in `forms`. `glob`: files decide.
   * `dynamic`: a variable or a substitution decides.
   */
  readonly kind: "literal" | "choice" | "glob" | "dynamic";
  /** Its value when literal. */
  readonly literal: string | undefined;
  /** Possible values: the value itself, or patterns in which unknown parts are wildcards and the rest is escaped. */
  readonly forms: readonly string[];
  /** Programs whose output is in it, where it holds substitutions. */
  readonly sources?: readonly string[];
}

/** One possible expansion of a word. */
interface Branch {
  text: string;
  pattern: string;
  globs: boolean;
  unknown: boolean;
}

const branchLimit = 64;

export function literalWord(value: string): ResolvedWord {
  return { raw: value, kind: "literal", literal: value, forms: [value] };
}

/** A word without its first characters, e.g. the value in `--file=name`. */
export function wordTail(word: ResolvedWord, from: number): ResolvedWord {
  return {
    raw: word.raw,
    kind: word.kind,
    literal: word.literal?.slice(from),
    forms: word.forms.map((form) => form.slice(from)),
  };
}

/** Usually one word; several after brace expansion or where an unquoted variable holds blanks. */
export function resolveWord(word: Word, scope: ShellScope): readonly ResolvedWord[] {
  if (word.parts === undefined) return [{ raw: word.text, kind: "literal", literal: word.value, forms: [word.value] }];
  const split = splitVariable(word.parts, scope);
  if (split !== undefined) return split.map((value) => ({ ...literalWord(value), raw: word.text }));
  // Words that all come out of it (braces) against values of which one does (variables).
  let words: Branch[][] = [[{ text: "", pattern: "", globs: false, unknown: false }]];
  for (const part of word.parts) {
    if (part.type === "BraceExpansion") {
      const items = braceItems(part.text);
      if (items !== undefined && items.length * words.length <= branchLimit) {
        words = items.flatMap((item) => words.map((branches) => append(branches, [item], false)));
        continue;
      }
      words = words.map((branches) => appendUnknown(branches));
      continue;
    }
    words = words.map((branches) => appendPart(branches, part, scope, false));
  }
  const sources = word.parts.some(substitutes) ? programsIn(word) : [];
  return words.map((branches) => finish(word.text, branches, sources));
}

function substitutes(part: WordPart): boolean {
  if (part.type === "DoubleQuoted" || part.type === "LocaleString") return part.parts.some(substitutes);
  return part.type === "CommandExpansion" || part.type === "ProcessSubstitution";
}

function finish(raw: string, branches: readonly Branch[], sources: readonly string[]): ResolvedWord {
  const extra = sources.length > 0 ? { sources } : {};
  const [first] = branches;
  if (first !== undefined && branches.length === 1 && !first.globs && !first.unknown) {
    return { raw, kind: "literal", literal: first.text, forms: [first.text], ...extra };
  }
  const dynamic = branches.some((branch) => branch.unknown);
  const globs = branches.some((branch) => branch.globs);
  return {
    raw,
    kind: dynamic ? "dynamic" : globs ? "glob" : "choice",
    literal: undefined,
    forms: [...new Set(branches.map((branch) => (branch.globs || branch.unknown ? branch.pattern : branch.text)))],
    ...extra,
  };
}

function appendPart(branches: Branch[], part: WordPart, scope: ShellScope, quoted: boolean): Branch[] {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
      return append(branches, [part.value], false);
    case "DoubleQuoted":
    case "LocaleString": {
      let result = branches;
      for (const child of part.parts) result = appendPart(result, child, scope, true);
      return result;
    }
    case "Glob":
      return appendGlob(branches, part.text);
    case "ExtendedGlob":
      return appendGlob(branches, "*");
    case "SimpleExpansion":
      return appendVariable(branches, part.text.slice(1), scope, quoted, []);
    case "ParameterExpansion": {
      if (part.prefix !== undefined || part.index !== undefined) return appendUnknown(branches);
      if (part.operation === undefined) return appendVariable(branches, part.parameter, scope, quoted, []);
      if (part.operation.type !== "Default") return appendUnknown(branches);
      const fallbacks = resolveWord(part.operation.operand, scope).flatMap((word) => word.literal ?? []);
      return appendVariable(branches, part.parameter, scope, quoted, fallbacks);
    }
    case "ProcessSubstitution":
      return append(branches, ["/dev/fd/63"], false);
    case "CommandExpansion":
    case "ArithmeticExpansion":
    case "BraceExpansion":
      return appendUnknown(branches);
  }
}

function appendVariable(
  branches: Branch[],
  name: string,
  scope: ShellScope,
  quoted: boolean,
  fallbacks: readonly string[],
): Branch[] {
  if (name === "PWD" && !scope.variables.has("PWD")) return append(branches, scope.directories, false);
  const variable = scope.variables.get(name);
  if (variable === undefined) return [...append(branches, fallbacks, true), ...appendUnknown(branches)];
  const plain =
    variable.values.length > 0 && variable.values.every((value) => value !== "" && (quoted || !/[\s*?[]/.test(value)));
  if (variable.certain && plain) return append(branches, variable.values, false);
  const certainlyEmpty = variable.certain && variable.values.every((value) => value === "") && fallbacks.length === 0;
  if (certainlyEmpty) return branches;
  return [...append(branches, [...variable.values, ...fallbacks], true), ...appendUnknown(branches)].slice(
    0,
    branchLimit,
  );
}

function append(branches: readonly Branch[], values: readonly string[], unknown: boolean): Branch[] {
  return values
    .flatMap((value) =>
      branches.map((branch) => ({
        text: branch.text + value,
        pattern: branch.pattern + value.replace(/[\\*?[\]{}()!+@|]/g, "\\$&"),
        globs: branch.globs,
        unknown: branch.unknown || unknown,
      })),
    )
    .slice(0, branchLimit);
}

function appendUnknown(branches: readonly Branch[]): Branch[] {
  return branches.map((branch) => ({ ...branch, pattern: `${branch.pattern}*`, unknown: true }));
}

function appendGlob(branches: readonly Branch[], text: string): Branch[] {
  return branches.map((branch) => ({
    text: branch.text + text,
    pattern: branch.pattern + text,
    globs: true,
    unknown: branch.unknown,
  }));
}

/** A word that is just an unquoted variable with spaces in its value becomes several words. */
function splitVariable(parts: readonly WordPart[], scope: ShellScope): readonly string[] | undefined {
  const [part] = parts;
  if (parts.length !== 1 || part?.type !== "SimpleExpansion") return undefined;
  const variable = scope.variables.get(part.text.slice(1));
  const [value] = variable?.values ?? [];
  if (!variable?.certain || value === undefined || variable.values.length > 1 || scope.variables.has("IFS"))
    return undefined;
  return /\s/.test(value) && !/[*?[]/.test(value) ? value.split(/\s+/).filter((item) => item !== "") : undefined;
}

/** Items of a plain `{a,b}`; undefined for ranges, nesting and anything quoted or expanded inside. */
function braceItems(text: string): readonly string[] | undefined {
  const inner = text.slice(1, -1);
  if (!inner.includes(",") || /[{}$`"'\\*?[]/.test(inner)) return undefined;
  return inner.split(",");
}
