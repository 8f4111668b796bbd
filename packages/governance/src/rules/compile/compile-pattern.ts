import { RE2JS, RE2JSException } from "re2js";
import type { SlowExpression } from "./slow-pattern.ts";

/** A pattern ready to run. */
export type CompiledPattern =
  | { readonly type: "linear"; test(text: string): boolean }
  /** `mayMatch` is linear and true for every text the whole pattern matches, so the slow engine is seldom needed. */
  | { readonly type: "slow"; readonly expression: SlowExpression; mayMatch(text: string): boolean };

/** A pattern that no engine here can run. The message says what to do. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/**
 * Compiles a pattern as found in rule files: JavaScript, Python or PCRE syntax as far as they agree, with leading inline flags,
 * `(?P<name>…)`, `\A`, `\Z`, `(?#…)`. Case-insensitive, like the programs these files were written for; `(?-i)` at the
 * beginning makes it case-sensitive. Throws `PatternError`.
 */
export function compilePattern(pattern: string): CompiledPattern {
  const plain = plainSyntax(pattern);
  try {
    const linear = RE2JS.compile(plain, RE2JS.CASE_INSENSITIVE);
    return { type: "linear", test: (text) => linear.test(text) };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    const expression = slowExpression(plain, error);
    return { type: "slow", expression, mayMatch: weaker(plain) };
  }
}

/** True when a pattern matches the empty text, and so every command. */
export function matchesEverything(compiled: CompiledPattern): boolean {
  return compiled.type === "linear" && compiled.test("");
}

function plainSyntax(pattern: string): string {
  return pattern
    .replace(/\(\?#[^)]*\)/g, "")
    .replace(/(^|[^\\])((?:\\\\)*)\\Z/g, "$1$2\\z")
    .replace(/\(\?P=(\w+)\)/g, "\\k<$1>");
}

/** The same in JavaScript's syntax, for the engine that backtracks. */
function slowExpression(plain: string, cause: Error): SlowExpression {
  let source = plain.replaceAll("(?P<", "(?<").replaceAll("\\A", "^").replaceAll("\\z", "$");
  let flags = "i";
  const leading = /^\(\?([imsx]*)(?:-([imsx]+))?\)/.exec(source);
  if (leading !== null) {
    const [whole, on = "", off = ""] = leading;
    flags = [...new Set(`i${on}`)].filter((flag) => !off.includes(flag)).join("");
    source = source.slice(whole.length);
  }
  if (flags.includes("x")) {
    throw new PatternError("free-spacing (?x) is not supported; write the pattern on one line without the flag", {
      cause,
    });
  }
  if (/\(\?>|[*+?}]\+/.test(source.replace(/\\.|\[(?:\\.|[^\]])*\]/g, "_"))) {
    throw new PatternError("atomic groups (?>…) and possessive quantifiers are not supported; write plain ones", {
      cause,
    });
  }
  try {
    new RegExp(source, flags);
  } catch {
    throw new PatternError(`is not a regular expression: ${cause.message}`, { cause });
  }
  return { source, flags };
}

/** The pattern without its look-arounds and back-references: it matches at least as much. */
function weaker(plain: string): (text: string) => boolean {
  const without = withoutLookAround(plain);
  if (without === undefined) return () => true;
  try {
    const linear = RE2JS.compile(without, RE2JS.CASE_INSENSITIVE);
    return (text) => linear.test(text);
  } catch {
    return () => true;
  }
}

/** Undefined when the groups cannot be told apart. A quantifier behind a look-around would lose its object. */
function withoutLookAround(pattern: string): string | undefined {
  let out = "";
  for (let index = 0; index < pattern.length; ) {
    const character = pattern[index];
    if (character === "\\") {
      const reference = /^\\(?:[1-9]\d*|k<\w+>)/.exec(pattern.slice(index, index + 80));
      out += reference === null ? pattern.slice(index, index + 2) : "(?:[\\s\\S]*)";
      index += reference === null ? 2 : reference[0].length;
    } else if (character === "[") {
      const end = classEnd(pattern, index);
      if (end === undefined) return undefined;
      out += pattern.slice(index, end);
      index = end;
    } else if (/^\(\?<?[=!]/.test(pattern.slice(index, index + 4))) {
      const end = groupEnd(pattern, index);
      if (end === undefined || /^[*+?{]/.test(pattern.slice(end))) return undefined;
      out += "(?:)";
      index = end;
    } else {
      out += character;
      index += 1;
    }
  }
  return out;
}

function groupEnd(pattern: string, start: number): number | undefined {
  let depth = 0;
  for (let index = start; index < pattern.length; ) {
    const character = pattern[index];
    if (character === "\\") index += 2;
    else if (character === "[") {
      const end = classEnd(pattern, index);
      if (end === undefined) return undefined;
      index = end;
    } else {
      if (character === "(") depth += 1;
      if (character === ")") depth -= 1;
      index += 1;
      if (depth === 0) return index;
    }
  }
  return undefined;
}

function classEnd(pattern: string, start: number): number | undefined {
  for (let index = start + 1; index < pattern.length; index += 1) {
    if (pattern[index] === "\\") index += 1;
    else if (pattern[index] === "]" && index > start + 1) return index + 1;
  }
  return undefined;
}
