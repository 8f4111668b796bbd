import type { ResolvedWord } from "./resolve-word.ts";

export interface FindExpression {
  readonly starts: readonly ResolvedWord[];
  /** Commands of `-exec`, `-execdir`, `-ok`, `-okdir`. */
  readonly commands: readonly (readonly ResolvedWord[])[];
  /** Files of `-fprint`, `-fprintf`, `-fls`. */
  readonly writes: readonly ResolvedWord[];
  readonly deletes: boolean;
  /** True when a test narrows what is found by its name or kind. */
  readonly filtered: boolean;
  /** Names and patterns of `-name` and the like. */
  readonly names: readonly string[];
  /** True when tests are joined otherwise than by "and": then the names do not narrow all that is found. */
  readonly alternatives: boolean;
  /** Patterns of what is found: names, or anything, below where it starts. */
  readonly found: readonly string[];
}

const filters = /^-(?:i?name|i?path|i?wholename|i?regex|empty|newer\w*|[mac]time|[mac]min|size)$/;

export function findExpression(words: readonly ResolvedWord[]): FindExpression {
  const commands: ResolvedWord[][] = [];
  const own: ResolvedWord[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined) break;
    own.push(word);
    if (!/^-(?:exec|ok)(?:dir)?$/.test(word.literal ?? "")) continue;
    const ends = ({ literal }: ResolvedWord, at: number) =>
      at > index && (literal === ";" || (literal === "+" && words[at - 1]?.literal === "{}"));
    const end = words.findIndex(ends);
    commands.push(words.slice(index + 1, end < 0 ? undefined : end));
    index = end < 0 ? words.length : end;
  }
  const texts = own.map(({ literal, raw }) => literal ?? raw);
  const behind = (option: RegExp) => own.filter((_, index) => option.test(texts[index - 1] ?? ""));
  const test = texts.findIndex((text) => /^[-(!,]/.test(text) && !/^-[LPHEXdsx]$|^-[DO]/.test(text));
  const starts = own.slice(0, test < 0 ? undefined : test).filter(({ raw }) => !raw.startsWith("-"));
  const from = starts.filter(({ literal, kind }) => literal !== undefined || kind === "glob");
  const names = behind(/^-i?name$/).flatMap(({ literal }) => literal ?? []);
  const alternatives = texts.some((text) => /^(?:-o|-or|,|!|-not)$/.test(text));
  const below = alternatives || names.length === 0 ? ["*"] : names;
  const tops = from.length === 0 ? ["."] : from.flatMap(({ forms }) => forms);
  return {
    starts: from,
    commands,
    writes: behind(/^-f(?:print0?|printf|ls)$/),
    deletes: texts.includes("-delete"),
    filtered: texts.some((text) => filters.test(text)),
    names,
    alternatives,
    found: tops.flatMap((top) => below.map((name) => `${top.replace(/\/+$/, "")}/${name}`)).slice(0, 32),
  };
}

/** The words of an `-exec` command, with `{}` replaced by what is found. */
export function withFound({ commands, found, alternatives }: FindExpression): FindExpression["commands"] {
  return commands.map((words) => {
    // A delete of this or that is judged by all the names that the search asks for.
    const deletes = /(?:^|\/)(?:rm|rmdir|unlink|shred|srm|rimraf|mv)$/.test(words[0]?.literal ?? "");
    return words.map((word) => {
      const stands = word.literal === "{}" && !(deletes && alternatives);
      return stands ? { ...foundFile, kind: "dynamic", forms: found } : word;
    });
  });
}

export const foundFile = { raw: "{}", kind: "glob", literal: undefined } as const;
