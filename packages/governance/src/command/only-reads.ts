import type { CommandAnalysis, SimpleCommand } from "../command-analysis.ts";
import { programNamed, readingForms } from "../programs/known-programs.ts";
import type { ReadingForm } from "../programs/program.ts";
import { type PlainWord, plainCommands } from "./plain-commands.ts";
import type { Place } from "./words/invocation.ts";
import { parseOptions } from "./words/option-spec.ts";
import { literalWord } from "./words/resolve-word.ts";

/**
 * True for a command of the small closed grammar: written plainly, of programs of the table only, each called as its row says.
 * Nothing of it writes, starts another program or shows a secret that no word of it names.
 *
 * @param found what the syntax tree says that the commands are: two readings of the text must agree
 */
export function onlyReads(text: string, found: readonly SimpleCommand[], place: Place): boolean {
  const commands = plainCommands(text, { HOME: place.home, PWD: place.cwd });
  if (commands === undefined || commands.length !== found.length) return false;
  const moves = commands.some(([program]) => program === "cd");
  const hasOpenWords = commands.some((words) => words.some((word) => typeof word !== "string"));
  // What masks their output knows an address as they print it, and not as another program passes it on.
  const passesOn = /\$\(|(?<!\|)\|(?!\|)/.test(text);
  const isAddress = (words: readonly PlainWord[]): boolean => words.includes("remote") || words.includes("config");
  if (passesOn && commands.some((words) => words[0] === "git" && isAddress(words))) return false;
  // Behind `cd` it is another directory, and another repository.
  if (moves && (hasOpenWords || text.includes("$PWD") || commands.some(([program]) => program === "git"))) return false;
  // From a directory behind a link, and in the name of an input, `..` leads elsewhere than it reads.
  const leadsBack = (word: PlainWord): boolean => typeof word === "string" && /\.\.(?:\/|$)/.test(word);
  if (moves && commands.some(([program, ...words]) => program !== "cd" && words.some(leadsBack))) return false;
  if (/(?<!<)<(?!<)[^\n]*\.\./.test(text)) return false;
  return commands.every(([program, ...words], index) => {
    const same = found[index];
    if (same?.name !== program || same.wrappers.length > 0 || !sameWords(same.words, words)) return false;
    // From behind a link, `..` leads elsewhere than it reads.
    if (words.some((word) => typeof word === "string" && behindName.test(word))) return false;
    // On Windows, a path of another machine.
    if (words.some((word) => typeof word === "string" && /^[\\/]{2}/.test(word))) return false;
    if (program === "git" && place.cwd !== place.workspace) return false;
    const known = words.filter((word) => typeof word === "string");
    return known.length === words.length
      ? isVersion(program, known) || isInRow(program, known)
      : isOpen(readingForms.get(program), words);
  });
}

/**
 * True when none of the programs of a command that only reads starts another, or does what the workspace says: git does by its
 * settings, and what tells its version may be a wrapper that does what a file of the project says.
 *
 * @param options.gitStartsNothing asked only when there is a git: whether no setting of it names a program
 */
export function startsNothing(
  { readsOnly, commands }: CommandAnalysis,
  { gitStartsNothing = () => false }: { readonly gitStartsNothing?: () => boolean } = {},
): boolean {
  if (!readsOnly || commands.some(({ name, words }) => isVersion(name, words))) return false;
  return !commands.some(({ name }) => name === "git") || gitStartsNothing();
}

/** True for a program that looks into all files below a directory it is given. */
export function looksBelow({ name, words }: SimpleCommand): boolean {
  const row = readingForms.get(name);
  return (
    row?.below !== undefined &&
    (row.below.length === 0 || row.below.some((option) => words.some((word) => has(word, option))))
  );
}

function has(word: string | undefined, option: string): boolean {
  if (word === undefined || word === option) return true;
  return option.length === 2 && /^-[A-Za-z]+$/.test(word) && word.includes(option.slice(1));
}

function sameWords(these: readonly (string | undefined)[], others: readonly PlainWord[]): boolean {
  const told = others.map((word) => (typeof word === "string" ? word : undefined));
  return these.length === told.length && these.every((word, index) => word === told[index]);
}

/** For a command with open words: it matches this row whatever they expand to. */
function isOpen(row: ReadingForm | undefined, words: readonly PlainWord[]): boolean {
  // It prints all its words.
  if (row?.options === "any") return true;
  if (row === undefined || row.most !== undefined || (row.operands !== "content" && row.operands !== "names"))
    return false;
  // A name could come out as an option, or as the first word of a language.
  const areFiles = words.every((word, index) => {
    if (typeof word === "string") return true;
    const isFirst = index === 0 || words.slice(0, index).every((one) => typeof one === "string" && one.startsWith("-"));
    return (
      word.open === "names" && (row.anyOption === true || (!word.raw.startsWith("*") && !(row.pattern && isFirst)))
    );
  });
  return (
    areFiles &&
    fits(
      row,
      words.map((word) => (typeof word === "string" ? word : word.raw)),
    )
  );
}

function isVersion(program: string, words: readonly (string | undefined)[]): boolean {
  return (
    words.length === 1 &&
    /^(?:--version|-v|-V|version)$/.test(words[0] ?? "") &&
    programNamed(program)?.tellsVersion === true
  );
}

/** With `..` behind the name of a directory. */
const behindName = /(?:^|\/)(?!\.{1,2}\/)[^/]+\/(?:\.?\/)*\.\.(?:\/|$)/;

/** By the row that says most of how it begins. */
function isInRow(program: string, words: readonly string[]): boolean {
  // Signatures are checked by a program that the repository configures; a remote's name may be an address with a login.
  if (program === "git" && words.some((word) => /%G|signature|remotename/i.test(word))) return false;
  const all = [program, ...(program === "git" && words[0] === "--no-pager" ? words.slice(1) : words)];
  const length = [3, 2, 1].find((count) => count <= all.length && readingForms.has(all.slice(0, count).join(" ")));
  return length !== undefined && fits(readingForms.get(all.slice(0, length).join(" ")), all.slice(length));
}

function fits(row: ReadingForm | undefined, words: readonly string[]): boolean {
  if (row === undefined) return false;
  if (row.options === "any") return true;
  const { unknown, flags, values, operands } = parseOptions(words.map(literalWord), row.options);
  if (unknown !== undefined) return false;
  if (row.needs !== undefined && !row.needs.some((option) => flags.has(option))) return false;
  const most = row.operands === "none" ? 0 : (row.most ?? Number.POSITIVE_INFINITY);
  const hasPattern = row.pattern === true && !values.some(({ kind }) => kind === "pattern");
  // Without a place to search, that would be everything.
  const isBelow = row.below?.some((option) => flags.has(option)) === true || (hasPattern && row.below?.length === 0);
  const least = (row.least ?? 0) + (isBelow ? 1 : 0) + (hasPattern ? 1 : 0);
  if (operands.length < least || operands.length > most) return false;
  const shaped = hasPattern ? operands.slice(0, 1) : operands;
  return shaped.every(({ literal = "" }) => row.form?.test(literal) !== false);
}
