import type { Effect } from "@gennai/governance/effect";
import type { Analysis, ToolOutcome } from "@gennai/governance/tool";
import type { StagedSurroundings } from "@gennai/machine/staged-shell/run-staged";
import type { BackgroundRuns } from "../../background/background-runs.ts";
import { withNotes } from "../command-output.ts";
import { stateOf } from "./bash-output-tool.ts";

/** Milliseconds for which a command that just began is watched: one that fails mostly does so at once. */
const firstLook = 400;

/** Starts a command that lasts, and says what it is called and what it has printed by then. */
export async function startBackground(
  { command, cwd }: Effect & { readonly type: "exec" },
  analysis: Analysis,
  surroundings: Omit<StagedSurroundings, "network">,
  { background, signal }: { readonly background: BackgroundRuns; readonly signal: AbortSignal },
): Promise<ToolOutcome> {
  const { environment, limits = {}, ...where } = surroundings;
  const { id, isPartial } = await background.start(
    { text: command.text, cwd: cwd.absolute, environment, limits },
    analysis,
    where,
  );
  await background.endsWithin(id, firstLook, signal);
  const { text, run } = await background.readOn(id, { most: 10_000, waitMs: 0, signal });
  const partly = isPartial
    ? ["[there are too many directories to follow: it may not see every later change of files]"]
    : [];
  const how = `[${stateOf(run)}; BashOutput reads what it prints, KillShell ends it]`;
  const failure = { failureClass: "command_error", message: `The command has ended: ${run.end}.` } as const;
  return {
    output: withNotes(text, [how, ...partly]),
    ...(run.state === "running" ? {} : { failure }),
  };
}
