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
  /** A word that is not a known test, option or action. */
  readonly unknown: string | undefined;
}

const valued = new Set(
  "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -newer -anewer -cnewer -mtime -atime -ctime -mmin -amin -cmin -perm -user -group -uid -gid -links -inum -samefile -maxdepth -mindepth -printf -regextype -fstype -used -D -newermt -newerat -newerct -context".split(
    " ",
  ),
);
const plain = new Set(
  "-print -print0 -ls -prune -quit -true -false -not ! ( ) -o -a -or -and , -depth -d -L -P -H -xdev -mount -follow -empty -readable -writable -executable -nouser -nogroup -daystart -ignore_readdir_race -noleaf -warn -nowarn -O0 -O1 -O2 -O3 -E -X -s -x".split(
    " ",
  ),
);
const filters = /^-(?:i?name|i?path|i?wholename|i?regex|empty|newer\w*|[mac]time|[mac]min|size)$/;

export function findExpression(words: readonly ResolvedWord[]): FindExpression {
  const starts: ResolvedWord[] = [];
  const commands: (readonly ResolvedWord[])[] = [];
  const writes: ResolvedWord[] = [];
  const names: string[] = [];
  let deletes = false;
  let filtered = false;
  let unknown: string | undefined;
  let started = false;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (word === undefined) break;
    const text = word.literal;
    if (
      !started &&
      (text === undefined ? word.kind === "glob" && /^[^-*?[(!]/.test(word.raw) : !/^[-(!,]/.test(text))
    ) {
      starts.push(word);
      continue;
    }
    if (text === undefined) {
      unknown ??= word.raw;
      continue;
    }
    if (!/^-[LPHEXdsx]$|^-D|^-O/.test(text)) started = true;
    if (filters.test(text)) filtered = true;
    if (valued.has(text)) {
      const value = words[++index];
      if (/^-i?name$/.test(text) && value?.literal !== undefined) names.push(value.literal);
      if (value === undefined) unknown ??= text;
    } else if (/^-(?:exec|ok)(?:dir)?$/.test(text)) {
      const end = words.findIndex(
        (other, at) =>
          at > index && (other.literal === ";" || (other.literal === "+" && words[at - 1]?.literal === "{}")),
      );
      commands.push(words.slice(index + 1, end < 0 ? undefined : end));
      if (end < 0) unknown ??= text;
      index = end < 0 ? words.length : end;
    } else if (text === "-delete") deletes = true;
    else if (/^-f(?:print0?|printf|ls)$/.test(text)) {
      const file = words[++index];
      if (file !== undefined) writes.push(file);
      if (text === "-fprintf") index += 1;
    } else if (text === "-files0-from") unknown ??= text;
    else if (!plain.has(text)) unknown ??= text;
  }
  const alternatives = words.some((word) => /^(?:-o|-or|,|!|-not)$/.test(word.literal ?? ""));
  return { starts, commands, writes, deletes, filtered, names, alternatives, unknown };
}
