import { knownPrograms } from "../../programs/known-programs.ts";
import type { DangerRow } from "../../programs/program.ts";
import type { DangerRule, FoundDanger, Invocation } from "../words/invocation.ts";
import { ask, deny, held } from "./danger-rows.ts";
import { deploys } from "./find-deploy.ts";

/** Dangers that the table of programs declares: they follow from the words alone. */
export const declaredDangers: readonly DangerRule[] = [
  {
    rule: "floor/deploy",
    find({ name, words }) {
      const texts = words.map(({ literal }) => literal);
      const isDry = texts.some((text = "") => /^--dry-run(?:=(?:client|server|true))?$/.test(text));
      const what = deploys(name, texts);
      if (what === undefined || isDry) return undefined;
      return ask(`${what} publishes, deploys or changes what others use.`);
    },
  },
  ...knownPrograms.flatMap(({ names, dangers = [] }) =>
    dangers.map(
      (row): DangerRule => ({
        rule: row.rule,
        programs: names.split(" "),
        find: (invocation) => foundIn(row, invocation),
      }),
    ),
  ),
];

function foundIn(
  { verdict, reason, held: isHeld, any, none, dynamic }: DangerRow,
  { name, words }: Invocation,
): FoundDanger | undefined {
  const has = (pattern: RegExp): boolean => words.some(({ literal, raw }) => pattern.test(literal ?? raw));
  if ((any !== undefined && !has(any)) || (none !== undefined && has(none))) return undefined;
  if (dynamic === true && !words.some(({ kind }) => kind === "dynamic")) return undefined;
  const found = (verdict === "ask" ? ask : deny)(reason.replace("$", name));
  return isHeld === true ? held(found) : found;
}
