import type { CommandDanger } from "../command-analysis.ts";
import type { DangerRule } from "../invocation.ts";

/** What words must be there: one that matches `any`, and none that matches `none`. */
interface Wanted {
  readonly any?: RegExp;
  readonly none?: RegExp;
}

type Row = (rule: string, programs: string, reason: string, wanted?: Wanted) => DangerRule;

/** A rule by programs and their words alone. In the reason, `$` stands for the program. */
const row =
  (verdict: CommandDanger["verdict"]): Row =>
  (rule, programs, reason, { any, none } = {}) => ({
    rule,
    programs: programs.split(" "),
    find({ name, words }) {
      const has = (pattern: RegExp): boolean => words.some(({ literal, raw }) => pattern.test(literal ?? raw));
      if ((any !== undefined && !has(any)) || (none !== undefined && has(none))) return undefined;
      return { verdict, reason: reason.replace("$", name), high: true };
    },
  });

export const refuses: Row = row("deny");
export const asks: Row = row("ask");
