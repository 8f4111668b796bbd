import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import type { CommandAnalysis, SimpleCommand } from "../../command/command-analysis.ts";

/**
 * True for an everyday development command that a sandbox and a separate branch make harmless: every program in it builds,
 * tests, checks, formats or commits, every path is in the workspace, and none is named for writing or deleting. An allowlist:
 * installers, network programs, a package's other scripts, inline code and everything unknown need a user's confirmation.
 *
 * @param workspaceRoot real absolute path
 */
export function isEverydayCommand(command: CommandAnalysis, workspaceRoot: string): boolean {
  if (isAtLeast(command.risk, "high") || command.dangers.length > 0 || command.unresolved.length > 0) return false;
  if (command.commands.length === 0 || !command.commands.every(isEveryday)) return false;
  return command.paths.every(({ access, absolute, pattern }) => {
    if (access === "list") return true;
    const inside = absolute === workspaceRoot || absolute.startsWith(`${workspaceRoot}/`);
    return inside && (access === "read" || (access === "unknown" && pattern === undefined));
  });
}

function isEveryday({ name, words, wrappers }: SimpleCommand): boolean {
  if (!wrappers.every((wrapper) => harmlessWrappers.has(wrapper))) return false;
  const literal = words.filter((word) => word !== undefined);
  // If files with secrets are hidden, it does not matter which file a program shows.
  if (literal.length < words.length) return shows.has(name);
  // The command it runs is judged separately.
  if (harmlessWrappers.has(name)) return true;
  if (literal.some((word) => leaving.test(word))) return false;
  if (plain.has(name)) return true;
  const verbs = verbsOf.get(name);
  const [verb = "", ...rest] = literal;
  if (verbs !== undefined)
    return (
      verbs.has(verb) && !(verb === "commit" && rest.some((word) => /^(?:-[a-z]*n|--no-verify|--amend)/.test(word)))
    );
  return runsFile.has(name) && /^[^-]/.test(verb);
}

const harmlessWrappers: ReadonlySet<string> = new Set(["time", "timeout", "nice", "ionice", "stdbuf", "command"]);

/** Words of scripts and targets that reach beyond this machine, and options that load something else. */
const leaving =
  /deploy|publish|(?<!-)release|upload|^push$|^install$|^(?:-o|--output|--config|--rcfile|--rootdir|--plugin|--resolve-plugins-relative-to|--require|--import|--loader|--eval)(?:=|$)|^-[a-z]*[cep]$|:\/\//i;

/** Build, test, check or format what is there; and what only prints. */
const plain: ReadonlySet<string> = new Set(
  [
    "cd echo printf true false test [ pwd ls cat head tail grep wc sort uniq cut tr diff date sleep",
    "tsc eslint prettier biome oxlint stylelint vitest jest mocha ava tap",
    "pytest ruff black isort mypy pyright flake8 pylint gofmt rustfmt rustc javac shellcheck",
  ].flatMap((names) => names.split(" ")),
);

const shows: ReadonlySet<string> = new Set("echo cat head tail ls wc".split(" "));

const tests: ReadonlySet<string> = new Set(["test"]);

/** The first word after the program decides. */
const verbsOf: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["npm", new Set(["test", "t"])],
  ["pnpm", tests],
  ["yarn", tests],
  ["bun", tests],
  ["git", new Set("add commit status diff log show rev-parse ls-files blame".split(" "))],
  ["cargo", new Set("build check test fmt clippy doc bench".split(" "))],
  ["go", new Set("build test vet fmt".split(" "))],
  ["dotnet", new Set(["build", "test", "format"])],
  ["mvn", new Set(["compile", "test", "verify"])],
  ["gradle", new Set(["assemble", "build", "check", "test"])],
  ["make", new Set("all build test check lint format fmt".split(" "))],
  ["deno", new Set(["test", "check", "lint", "fmt"])],
]);

/** Interpreters, with a file of the workspace first. */
export const runsFile: ReadonlySet<string> = new Set(["node", "python", "python3", "ruby", "php"]);
