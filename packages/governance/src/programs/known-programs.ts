import { bun, bunx } from "./bun.ts";
import { cabal } from "./cabal.ts";
import { cargo, rustup } from "./cargo.ts";
import { clouds } from "./clouds.ts";
import { composer } from "./composer.ts";
import { containers } from "./containers.ts";
import { cpan } from "./cpan.ts";
import { forges } from "./forges.ts";
import { git } from "./git.ts";
import { go } from "./go.ts";
import { ofMachine } from "./machine.ts";
import { maven } from "./maven.ts";
import { networkPrograms } from "./network-programs.ts";
import { npm, npmLike, npx } from "./npm.ts";
import { otherManagers } from "./other-managers.ts";
import { pnpm, pnpx } from "./pnpm.ts";
import type { Program, ProgramFiles, ReadingForm, Verb } from "./program.ts";
import { ofPython } from "./python.ts";
import { ofRuby } from "./ruby.ts";
import { taskRunners } from "./task-runners.ts";
import { filesRead, utilities } from "./utilities.ts";
import { yarn } from "./yarn.ts";

/** All that is declared, in the order of the reference. A name stands once. */
export const knownPrograms: readonly Program[] = [
  ...utilities,
  git,
  ...[
    npm,
    npx,
    npmLike,
    pnpm,
    pnpx,
    yarn,
    bun,
    bunx,
    cargo,
    rustup,
    ...ofPython,
    ...ofRuby,
    composer,
    go,
    cpan,
    cabal,
    maven,
  ],
  ...otherManagers,
  ...[...forges, ...containers, ...clouds, ...networkPrograms, ...taskRunners, ...ofMachine],
];

const byName = new Map(knownPrograms.flatMap((program) => program.names.split(" ").map((name) => [name, program])));

/** @param name base name */
export function programNamed(name: string): Program | undefined {
  return byName.get(name);
}

/** What a program does to files; undefined if that is unknown. */
export function programFiles(name: string): ProgramFiles | undefined {
  const program = byName.get(name);
  return program?.files ?? filesRead(program?.reads?.[""]);
}

type Words = readonly (string | undefined)[];

export interface FoundVerb {
  readonly program: Program;
  /** The first spelling of its row: `install` for `npm i`. */
  readonly name: string;
  readonly verb: Verb;
  readonly rest: Words;
  /** None of the options before the verb can have taken it as its value. */
  readonly isCertain: boolean;
}

/**
 * Reads which verb a program is called with; undefined for one that is not declared.
 *
 * @param name base name; a version behind it does not count: `python3.12`
 * @param words undefined: not known
 */
export function verbOf(name: string, words: Words): FoundVerb | undefined {
  const program = programNamed(name) ?? programNamed(name.replace(/(?<=[a-z]3)\.\d+$/, ""));
  if (program === undefined) return undefined;
  if (program.module !== undefined) {
    const [option, module] = words;
    return option === program.module && module !== undefined ? verbOf(module, words.slice(2)) : undefined;
  }
  const valued = program.valued?.split(" ");
  let at = 0;
  let isCertain = true;
  for (let word = words[0]; word !== undefined && /^[-+]/.test(word); word = words[at]) {
    const takesNext = valued?.includes(word) === true;
    if (!takesNext && !alone.test(word) && program.plain?.flags.test(word) !== true) isCertain = false;
    at += takesNext ? 2 : 1;
  }
  if (at < words.length) return foundVerb(program, words[at], { rest: words.slice(at + 1), isCertain });
  return words.some((word) => informs.test(word ?? ""))
    ? undefined
    : foundVerb(program, program.bare, { rest: words, isCertain: true });
}

/** Options that take no further word, whatever the program; also the toolchain of cargo. */
const alone = /^(?:-[a-z]?[qsvy]|--(?:quiet|silent|verbose|yes|no-[a-z-]+)|-.*=.*|\+.*)$/;
const informs = /^(?:--?v(?:ersion)?|-V|--?h(?:elp)?)$/;

function foundVerb(
  program: Program,
  word: string | undefined,
  found: Pick<FoundVerb, "rest" | "isCertain">,
): FoundVerb | undefined {
  if (word === undefined) return undefined;
  const entry = verbs.get(program)?.get(word) ?? (program.otherwise && { name: word, verb: program.otherwise });
  return entry && { program, ...entry, ...found };
}

const verbs = new Map(
  knownPrograms.map((program) => [
    program,
    new Map(
      Object.entries(program.verbs ?? {}).flatMap(([spellings, verb]) => {
        const all = spellings.split(" ");
        return all.map((word) => [word, { name: all[0] ?? "", verb }] as const);
      }),
    ),
  ]),
);

/** Calls that certainly only read, by their first words: `git status`. */
export const readingForms: ReadonlyMap<string, ReadingForm> = new Map(
  knownPrograms.flatMap(({ names, reads = {} }) =>
    Object.entries(reads).map(([words, form]) => [`${names} ${words}`.trim(), form] as const),
  ),
);
