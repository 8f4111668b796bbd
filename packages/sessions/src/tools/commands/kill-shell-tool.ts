import type { BuiltInTool } from "@gennai/governance/tool";
import { z } from "zod";
import { byModel } from "../../background/background-run-facts.ts";
import type { BackgroundRuns } from "../../background/background-runs.ts";
import { stateOf } from "./bash-output-tool.ts";

const parameters = z.strictObject({
  shell_id: z.string().min(1).max(40).describe("Id of the background command, e.g. b1."),
});

/** Ends a command in the background. */
export function killShellTool(background: Pick<BackgroundRuns, "stop">): BuiltInTool<z.infer<typeof parameters>> {
  return {
    name: "KillShell",
    description: "Ends a command that Bash started with run_in_background.",
    parameters,
    access: "change",

    async analyse({ shell_id: id }) {
      return { statement: `End ${id} in the background`, effects: [{ type: "session" }] };
    },

    async execute({ shell_id: id }) {
      return { output: `[${stateOf(await background.stop(id, byModel))}]` };
    },

    async verify({ shell_id: id }) {
      return { state: "verified", evidence: `No process of ${id} is left.` };
    },
  };
}
