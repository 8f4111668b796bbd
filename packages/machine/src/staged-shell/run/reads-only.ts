import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { CommandAnalysis } from "@gennai/governance/command/command-analysis";
import { startsNothing } from "@gennai/governance/command/grammar/only-reads";
import { repositoryPaths } from "../../sandbox/host/repository-paths.ts";
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

/** Whether no setting of the repository around a directory names a program that git would start there. */
export function repositoryStartsNothing(directory: string, home: string): boolean {
  const data = repositoryPaths(directory, home)?.writable ?? [];
  return data.every((git) => namesNoProgram(join(git, "config")) && namesNoProgram(join(git, "config.worktree")));
}

/** False also if uncertain: some settings include other files. */
function namesNoProgram(configuration: string): boolean {
  try {
    return !/filter|fsmonitor|textconv|external|command|program|promisor|include|worktree/i.test(
      readFileSync(configuration, "utf8"),
    );
  } catch {
    // Git does not read a missing file.
    return true;
  }
}
