import { ToolFailure } from "@gennai/governance/tool-error";
import type { StagedUpdate } from "../../proposal/staged-tree.ts";
import type { Observation } from "../../stage/observe/effect.ts";
import { dropOpen, type OpenStage } from "../stages/open-stages.ts";
import { runAndObserve } from "./observed-run.ts";
import { ProposedWork } from "./proposed-work.ts";
import type { StagedShellCommand, StagedSurroundings } from "./run-staged.ts";

/**
 * Ends an operation that the user's own work overtook, and makes what it changed in files a proposal. Throws `ToolFailure`
 * `stale_file`, in place of the command that would have gone on with it.
 *
 * @param moved what of the user's is not as the operation found it
 */
export async function giveUp(
  open: OpenStage,
  moved: readonly string[],
  command: StagedShellCommand,
  surroundings: StagedSurroundings,
  options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
): Promise<never> {
  const looking = { ...command, text: ":", confirmed: false };
  const { observation } = await runAndObserve(looking, surroundings, options, { open, ends: true });
  const rescue = await rescuing(open, observation, command, surroundings);
  const [first, ...others] = moved;
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return rescue(new ToolFailure("stale_file", `The user changed ${first}${more} meanwhile.`));
}

/**
 * Reads what an operation changed in files, because a commit takes it out of the stage.
 * @returns ends the operation after a commit that failed, as `giveUp` does; any other error is thrown again
 */
export async function rescuing(
  open: OpenStage,
  { effects }: Observation,
  { command }: StagedShellCommand,
  { workspaceRoot, unfinished }: StagedSurroundings,
): Promise<(error: unknown) => Promise<never>> {
  const proposal = await unfinished?.();
  let updates: readonly StagedUpdate[] = [];
  let isSaved = false;
  try {
    if (proposal !== undefined) {
      const work = new ProposedWork(open.transaction, { workspaceRoot, proposal, effects, mayConflict: true });
      ({ updates } = work.updates(new Set(effects), command.text));
      isSaved = true;
    }
  } catch (error) {
    // It is too much for a person to review.
    if (!(error instanceof ToolFailure)) throw error;
  }
  return async (error) => {
    if (!(error instanceof ToolFailure)) throw error;
    if (updates.length > 0) proposal?.update(updates);
    await dropOpen(open);
    const rest = isSaved ? "its changes in files are proposed to the user" : "its changes are gone: they are too many";
    throw new ToolFailure(
      "stale_file",
      `${error.message} So ${open.operation} of this session was given up, and nothing of it is kept; ${rest}.`,
      { failureClass: "partial_execution", hint: "Begin again, on what the user has now.", cause: error },
    );
  };
}
