import type { CommandAnalysis, CommandPath, SimpleCommand } from "../../command-analysis.ts";
import { programNamed, verbOf } from "../../programs/known-programs.ts";

/**
 * Control files that a command may change once it is allowed: those that its words name, which the user saw in the question.
 * Nobody agreed to anything else it does.
 */
export interface AgreedControl {
  /** Paths that the command names to be written or deleted. */
  readonly named: readonly CommandPath[];
  /** Git runs and does more than read, and no other program runs with it. */
  readonly gitAlone: boolean;
  /** Git puts tracked files where its history has them: `checkout`, `merge`, `stash pop`. */
  readonly gitMoves: boolean;
  /** Words of git's commands that may name branches which they move, or move to. */
  readonly gitNames: readonly string[];
  /** Only git runs, and does more than add commits: it may change its own configuration and state. */
  readonly gitState: boolean;
  /** A package manager installs: it may change its directories, and the dependencies in manifests. */
  readonly installs: boolean;
  /** Names of manifests that a package manager was told to write as a whole. */
  readonly manifests: readonly string[];
  /** Makefiles that a build's configuration writes. */
  readonly makefiles: boolean;
}

/** For an unknown command. */
export const nothingAgreed: AgreedControl = {
  named: [],
  gitAlone: false,
  gitMoves: false,
  gitNames: [],
  gitState: false,
  installs: false,
  manifests: [],
  makefiles: false,
};

/** Reads it from a command that the gate let run. */
export function agreedControl({ commands, paths }: CommandAnalysis): AgreedControl {
  const verbs = commands.map(gitVerb);
  const trees = verbs.map((verb) => (verb === undefined ? undefined : verbOf("git", [verb])?.verb));
  const isGitAlone = commands.every(({ name }, index) => inert.has(name) || verbs[index] !== undefined);
  // Otherwise an option may have taken the verb as its value.
  const certain = commands.flatMap(({ name, words }) => {
    const found = verbOf(name, words);
    return found?.isCertain === true ? [found] : [];
  });
  return {
    named: paths.filter(({ access }) => access === "write" || access === "delete"),
    gitAlone: isGitAlone && commands.some(({ name }, index) => name === "git" && trees[index]?.tree !== "looks"),
    gitMoves: commands.some((command, index) => trees[index]?.tree === "moves" && !onlyMakesBranch(command)),
    gitNames: commands.flatMap(({ words }, index) =>
      trees[index]?.refs === true
        ? words.flatMap((word) => (word === undefined || word.startsWith("-") ? [] : [word])).slice(1)
        : [],
    ),
    gitState:
      isGitAlone &&
      verbs.some((verb, index) => verb !== undefined && !/^(?:looks|adds)$/.test(trees[index]?.tree ?? "")),
    installs: certain.some(({ verb }) => verb.writes === "packages"),
    manifests: certain.flatMap(({ verb, program: { manifests = "" } }) =>
      verb.writes === "manifests" ? manifests.split(" ") : [],
    ),
    makefiles: commands.some(({ name }) => programNamed(name)?.makefiles === true),
  };
}

/** Commands that change nothing themselves, next to git. */
const inert: ReadonlySet<string> = new Set("cd echo printf true false test [ pwd ls sleep".split(" "));

/** `checkout -b NAME` and `switch -c NAME`, from where HEAD is: no file moves. */
function onlyMakesBranch({ words }: SimpleCommand): boolean {
  const [verb, ...rest] = words.filter((word) => word !== "-q" && word !== "--quiet");
  const makes = verb === "checkout" ? /^-q?b$/ : verb === "switch" ? /^(?:-q?c|--create)$/ : /^$/;
  return rest.length === 2 && makes.test(rest[0] ?? "") && rest[1]?.startsWith("-") === false;
}

/** Git's subcommand; undefined for another program, and where git was told to run something or to look elsewhere. */
function gitVerb({ name, words, wrappers }: SimpleCommand): string | undefined {
  if (name !== "git" || wrappers.length > 0 || words.includes(undefined)) return undefined;
  const literal = words.filter((word) => word !== undefined);
  let at = 0;
  while (literal[at] === "-C" || literal[at] === "--no-pager" || literal[at] === "-P")
    at += literal[at] === "-C" ? 2 : 1;
  const [verb = "", ...rest] = literal.slice(at);
  if (!/^[a-z][a-z-]*$/.test(verb)) return undefined;
  const runsMore = rest.some((word) => /^(?:-[a-zA-Z]*x|--exec|run|foreach)/.test(word) && !/^-[^-]*d/.test(word));
  return runsMore ? undefined : verb;
}
