import { join } from "node:path";
import { isProgram, searchPath } from "@gennai/egress/keys/login/user-program";
import type { CommandAnalysis } from "@gennai/governance/command-analysis";
import type { RunProgram } from "@gennai/governance/connection";
import { runProgram } from "@gennai/governance/network/run-program";
import type { StagedSurroundings } from "./run-staged.ts";

/** Whose connections a yes is for: only one run's, if the user has its program only as a shim, for which files of the workspace choose. */
export function programHere(
  command: CommandAnalysis,
  place: Pick<StagedSurroundings, "environment" | "workspaceRoot"> & { readonly cwd: string },
): RunProgram {
  const program = runProgram(command, place);
  const name = command.commands[0]?.name ?? "";
  const isHere = searchPath(place.environment, [place.workspaceRoot]).some((each) => isProgram(join(each, name)));
  return { ...program, lasting: program.lasting && isHere };
}
