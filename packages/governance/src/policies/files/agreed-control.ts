import type { CommandAnalysis, CommandPath, SimpleCommand } from "../../command/command-analysis.ts";

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
  /** Manifests that a package manager was told to write as a whole. */
  readonly manifests: boolean;
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
  manifests: false,
  makefiles: false,
};

/** Reads it from a command that the gate let run. */
export function agreedControl({ commands, paths }: CommandAnalysis): AgreedControl {
  const verbs = commands.map(gitVerb);
  const isGitAlone = commands.every(({ name }, index) => inert.has(name) || verbs[index] !== undefined);
  const known = verbs.filter((verb) => verb !== undefined);
  const is = (table: ReadonlyMap<string, RegExp>): boolean =>
    commands.some(({ name, words }) =>
      table.get(name)?.test(words.find((word) => word?.startsWith("-") !== true) ?? ""),
    );
  return {
    named: paths.filter(({ access }) => access === "write" || access === "delete"),
    gitAlone: isGitAlone && commands.some(({ name }, index) => name === "git" && !reading.has(verbs[index] ?? "")),
    gitMoves: commands.some((command, index) => moving.has(verbs[index] ?? "") && !onlyMakesBranch(command)),
    gitNames: commands.flatMap(({ words }, index) =>
      naming.has(verbs[index] ?? "")
        ? words.flatMap((word) => (word === undefined || word.startsWith("-") ? [] : [word])).slice(1)
        : [],
    ),
    gitState: isGitAlone && known.some((verb) => !committing.has(verb)),
    installs: is(installers),
    manifests: is(manifestWriters),
    makefiles: commands.some(({ name }) => makefileWriters.has(name)),
  };
}

/** Commands that change nothing themselves, next to git. */
const inert: ReadonlySet<string> = new Set("cd echo printf true false test [ pwd ls sleep".split(" "));

const moving: ReadonlySet<string> = new Set(
  [
    "checkout switch restore reset stash merge pull rebase cherry-pick revert am apply mv rm clean",
    "clone submodule worktree read-tree checkout-index sparse-checkout bisect",
  ].flatMap((words) => words.split(" ")),
);

const naming: ReadonlySet<string> = new Set(
  "checkout switch branch fetch pull push merge rebase worktree update-ref symbolic-ref remote".split(" "),
);

/** `checkout -b NAME` and `switch -c NAME`, from where HEAD is: no file moves. */
function onlyMakesBranch({ words }: SimpleCommand): boolean {
  const [verb, ...rest] = words.filter((word) => word !== "-q" && word !== "--quiet");
  const makes = verb === "checkout" ? /^-q?b$/ : verb === "switch" ? /^(?:-q?c|--create)$/ : /^$/;
  return rest.length === 2 && makes.test(rest[0] ?? "") && rest[1]?.startsWith("-") === false;
}

/** These change nothing, in the index neither. */
const reading: ReadonlySet<string> = new Set("status diff log show rev-parse ls-files blame".split(" "));

/** These run hooks, without a question: nobody asked for changes by hooks. */
const committing: ReadonlySet<string> = new Set(["add", "commit", ...reading]);

const installers: ReadonlyMap<string, RegExp> = new Map([
  ["npm", /^(?:i|in|install|ci|add|un|uninstall|remove|rm|update|up|upgrade|dedupe|prune|audit|link|rebuild)$/],
  ["pnpm", /^(?:i|install|add|remove|rm|update|up|dedupe|prune|link|rebuild|import)$/],
  ["yarn", /^(?:|install|add|remove|up|upgrade|dedupe|link)$/],
  ["bun", /^(?:i|install|add|remove|rm|update|link)$/],
]);

const manifestWriters: ReadonlyMap<string, RegExp> = new Map([
  ["npm", /^(?:init|pkg|version|set-script)$/],
  ["pnpm", /^(?:init|pkg|version)$/],
  ["yarn", /^(?:init|version)$/],
  ["bun", /^init$/],
  ["composer", /^(?:require|remove|update|init)$/],
  ["poetry", /^(?:add|remove|init|version)$/],
  ["uv", /^(?:add|remove|init)$/],
  ["pdm", /^(?:add|remove|init)$/],
  ["bundle", /^(?:add|remove|init)$/],
  ["deno", /^(?:add|remove|init)$/],
]);

const makefileWriters: ReadonlySet<string> = new Set(
  "configure cmake qmake autoreconf automake config.status".split(" "),
);

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
