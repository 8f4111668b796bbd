import { programNamed, verbOf } from "../../programs/known-programs.ts";
import type { ResolvedWord } from "./resolve-word.ts";

/** Options of package managers without a value: a word behind one is a name like any other. */
const bareOptions =
  /^(?:-[DEOPSgy]|--(?:save|save-dev|save-exact|save-optional|save-peer|no-save|dev|global|force|yes|upgrade|user|legacy-peer-deps|frozen-lockfile))$/;

/** A name that no program takes for a file, optionally with a version: dots and slashes only there. */
const name = /^(?:@[\w-]+\/)?[A-Za-z0-9][\w:-]*(?:\[[\w,-]+\])?(?:(?:@|[=<>~!]=)[\w.^~*-]+)?$/;

/** The words of a program that are verbs and names, and no files: `install` and `left-pad` of `npm install left-pad`. */
export function verbWords(program: string, words: readonly ResolvedWord[]): ReadonlySet<ResolvedWord> {
  const [verb, ...rest] = words;
  const known = programNamed(program);
  const hasVerbs = known?.verbs !== undefined || known?.otherwise !== undefined;
  // Behind an option, the first word may be its value.
  if (verb?.literal === undefined || !hasVerbs || !name.test(verb.literal)) return new Set();
  if (verbOf(program, [verb.literal])?.verb.names !== true) return new Set([verb]);
  const end = rest.findIndex(({ literal }) => literal === "--");
  const names = rest.slice(0, end < 0 ? undefined : end).filter(({ literal }, index) => {
    const before = words[index]?.literal ?? "-";
    const mayBeValue = before.startsWith("-") && !before.includes("=") && !bareOptions.test(before);
    return !mayBeValue && literal !== undefined && name.test(literal);
  });
  return new Set([verb, ...names]);
}
