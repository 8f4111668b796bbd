import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { startsNothing } from "@gennai/governance/command/only-reads";
import type { CommandAnalysis } from "@gennai/governance/command-analysis";
import { readGitIndex } from "@gennai/machine/git-data/git-index";
import { repositoryAt } from "@gennai/machine/host/repository-paths";
import { systemErrorCode } from "@gennai/machine/system-error";
import { isWithin } from "@gennai/protocol/is-within";
import { userConfigurations } from "../found/control-targets.ts";
import type { Stages } from "../stages/stages.ts";

/**
 * Whether a command certainly writes nothing: it is in the closed grammar, and git's settings name no program, which might write.
 * If this were wrong, its writes would fail and do no harm.
 */
export function readsOnly(
  command: CommandAnalysis,
  { stages, workspaceRoot }: { readonly stages: Pick<Stages, "leads" | "home">; readonly workspaceRoot: string },
): boolean {
  return startsNothing(command, {
    gitStartsNothing: () =>
      [...stages.leads(workspaceRoot).configurations, ...userConfigurations(stages.home)].every(namesNoProgram),
  });
}

/**
 * Whether git, started in a directory, starts no program that a repository's settings name: that of the repository, and of each
 * submodule that it looks into. False where that is uncertain. A repository around the user's home does not count, as for commands.
 */
export function repositoryStartsNothing(directory: string, home: string): boolean {
  for (let place = directory; ; place = dirname(place)) {
    if (place !== directory && isWithin(home, { directory: place })) return true;
    // Git also takes a directory that looks like its own data for a repository.
    if (existsSync(join(place, "HEAD")) && existsSync(join(place, "objects"))) return false;
    const git = join(place, ".git");
    if (lstatSync(git, { throwIfNoEntry: false }) !== undefined) {
      const repository = repositoryAt(git);
      return repository !== undefined && startsNothingIn(repository.writable, realpathSync(place));
    }
    if (dirname(place) === place) return true;
  }
}

/**
 * @param directories git's, of one repository
 * @param workTree where its submodules are, real path
 * @param depth of submodules in submodules
 */
function startsNothingIn(directories: readonly string[], workTree: string, depth = 0): boolean {
  const named = directories.flatMap((git) => [join(git, "config"), join(git, "config.worktree")]);
  if (!named.every(namesNoProgram)) return false;
  const submodules = depth > deepest ? undefined : submodulesIn(directories.at(-1) ?? "", workTree);
  // A hostile repository could name so many that looking at them would never end.
  if (submodules === undefined || submodules.length > most) return false;
  return submodules.every((submodule) => startsNothingAt(submodule, depth + 1));
}

const deepest = 2;
const most = 50;

/** The submodules that the index has, absolute; undefined if it cannot be read. */
function submodulesIn(git: string, workTree: string): readonly string[] | undefined {
  const index = join(git, "index");
  if (!existsSync(index)) return [];
  const entries = readGitIndex(readFileSync(index));
  if (entries === undefined) return undefined;
  return [...entries].flatMap(([path, { mode }]) =>
    mode === "160000" ? [join(workTree, path.split("\0")[0] ?? "")] : [],
  );
}

function startsNothingAt(submodule: string, depth: number): boolean {
  const pointer = join(submodule, ".git");
  const stat = lstatSync(pointer, { throwIfNoEntry: false });
  if (stat === undefined) return true;
  // Behind a link it could be any directory, also the one around it.
  if (realpathSync(submodule) !== submodule) return false;
  if (stat.isDirectory()) return startsNothingIn([pointer], submodule, depth);
  const named = stat.isFile() ? /^gitdir: (.+)$/.exec(readFileSync(pointer, "utf8").trim())?.[1] : undefined;
  return named !== undefined && startsNothingIn([resolve(submodule, named)], submodule, depth);
}

/** False also if uncertain: some settings include other files. */
function namesNoProgram(configuration: string): boolean {
  try {
    // A submodule's settings say where its files are.
    const settings = readFileSync(configuration, "utf8").replaceAll(/^\s*worktree = (?:\.\.\/)+[\w./-]+$/gm, "");
    return !/filter|fsmonitor|textconv|external|command|program|promisor|include|worktree/i.test(settings);
  } catch (error) {
    // Git does not read a missing file.
    return systemErrorCode(error) === "ENOENT";
  }
}
