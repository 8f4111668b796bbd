import type { DangerRule, FoundDanger } from "../words/invocation.ts";

export const deny = (reason: string): FoundDanger => ({ verdict: "deny", reason, high: true });
/** Refused because work is lost by it: a person's own rule may ask instead. */
export const loses = (reason: string): FoundDanger => ({ verdict: "deny", reason, high: true, askable: true });
/** Refused by its text only where no stage holds what it would do. */
export const held = (found: FoundDanger): FoundDanger => ({ ...found, held: true });
export const ask = (reason: string): FoundDanger => ({ verdict: "ask", reason, high: true });

/** Required words: at least one that matches `any`, and none that matches `none`. */
interface Wanted {
  readonly any?: RegExp;
  readonly none?: RegExp;
}

type Row = (rule: string, programs: string, reason: string, wanted?: Wanted) => DangerRule;

/** A rule based only on programs and their words. In the reason, `$` is replaced with the program. */
const row =
  (found: typeof deny): Row =>
  (rule, programs, reason, { any, none } = {}) => ({
    rule,
    programs: programs.split(" "),
    find({ name, words }) {
      const has = (pattern: RegExp): boolean => words.some(({ literal, raw }) => pattern.test(literal ?? raw));
      if ((any !== undefined && !has(any)) || (none !== undefined && has(none))) return undefined;
      return found(reason.replace("$", name));
    },
  });

export const refuses: Row = row(deny);
export const asks: Row = row(ask);
