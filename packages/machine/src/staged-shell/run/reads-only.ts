import { readFileSync } from "node:fs";
import type { CommandAnalysis } from "@gennai/governance/command/command-analysis";
import { startsNothing } from "@gennai/governance/command/grammar/only-reads";
import { userConfigurations } from "../../control-watch/state/control-targets.ts";
import type { Stages } from "../stages/stages.ts";

/**
 * Whether a command certainly writes nothing: it is in the closed grammar, and git's settings name no program, which might want to
 * write. If that were wrong, it would fail to write, and harm nothing.
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

/** In doubt it does: some settings bring those of other files. */
function namesNoProgram(configuration: string): boolean {
  try {
    return !/filter|fsmonitor|textconv|external|command|program|promisor|include|worktree/i.test(
      readFileSync(configuration, "utf8"),
    );
  } catch {
    // Git reads none that is not there.
    return true;
  }
}
