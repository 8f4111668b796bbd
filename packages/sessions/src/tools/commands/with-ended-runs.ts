import type { Tool } from "@gennai/governance/tool";
import type { BackgroundRuns } from "../../background/background-runs.ts";
import { withNotes } from "../command-output.ts";
import { stateOf } from "./bash-output-tool.ts";

/** The same tool; its results also list background commands that ended since the last one. */
export function withEndedRuns(tool: Tool, background: Pick<BackgroundRuns, "takeEnded">): Tool {
  return {
    ...tool,
    async execute(args, analysis, context) {
      const outcome = await tool.execute(args, analysis, context);
      const ended = background.takeEnded();
      if (ended.length === 0) return outcome;
      const notes = ended.map((run) => `[in the background, ${stateOf(run)}; BashOutput shows what it printed last]`);
      return { ...outcome, output: withNotes(outcome.output, notes) };
    },
  };
}
