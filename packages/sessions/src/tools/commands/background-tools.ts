import type { Connection } from "@gennai/governance/connection";
import { endpointName } from "@gennai/governance/endpoint";
import { refusedEndpoints } from "@gennai/governance/network/refused-endpoints";
import type { BuiltInTool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { z } from "zod";
import { type BackgroundRunFacts, byModel } from "../../background/background-run-facts.ts";
import type { BackgroundRuns } from "../../background/background-runs.ts";
import { withNotes } from "../command-output.ts";

/** Maximum characters shown at once. */
const mostShown = 30_000;
/** Milliseconds to wait for new output of a run. */
const timeoutMs = 3_000;

const parameters = z.strictObject({
  bash_id: z.string().min(1).max(40).describe("Id of the background command, e.g. b1."),
  filter: z.string().max(500).optional().describe("Regular expression; lines that do not match are never shown."),
});

/** Reads what a command in the background printed since the last look. */
export function bashOutputTool(
  background: Pick<BackgroundRuns, "readOn" | "connections">,
): BuiltInTool<z.infer<typeof parameters>> {
  return {
    name: "BashOutput",
    description:
      "Returns what a command that Bash started with run_in_background printed since the last look, and whether it still runs.",
    parameters,
    access: "read",

    async analyse({ bash_id: id }) {
      return { statement: `Read the output of ${id}`, effects: [{ type: "session" }] };
    },

    async execute({ bash_id: id, filter }, _analysis, { signal }) {
      const shows = filter === undefined ? undefined : lineFilter(filter);
      const { text, leftOut, more, run, images } = await background.readOn(id, {
        most: mostShown,
        waitMs: timeoutMs,
        signal,
      });
      const lines = shows === undefined ? text : text.split("\n").filter(shows).join("\n");
      const notes = leftOut === 0 ? [] : [`[${leftOut} characters before this are left out]`];
      if (more > 0) notes.push(`[${more} characters after this: call BashOutput again]`);
      notes.push(`[${stateOf(run)}]`, ...refusedNotes(background.connections(id)));
      return { output: withNotes(lines, notes), truncated: leftOut + more > 0, images };
    },
  };
}

/** What a run was refused to reach, and what to do about it. */
export function refusedNotes(connections: readonly Connection[]): readonly string[] {
  const refused = refusedEndpoints(connections).map(endpointName);
  if (refused.length === 0) return [];
  return [
    `[refused: ${refused.join(", ")}; if it needs that, end it and start the same command again: the user is asked then]`,
  ];
}

/** In words, e.g. `b1 runs`. */
export function stateOf({ id, state, end, ports }: BackgroundRunFacts): string {
  if (state === "ended") return `${id} has ended: ${end ?? "it is not known how"}`;
  const open = ports.map(({ port, local }) => `${port} as 127.0.0.1:${local}`);
  return `${id} runs${open.length === 0 ? "" : `; the user has opened port ${open.join(", ")} of it`}`;
}

/** A plain text filter if it is no valid regular expression for this engine. Applied per line of bounded length. */
function lineFilter(filter: string): (line: string) => boolean {
  try {
    const expression = new RegExp(filter);
    return (line) => expression.test(line.slice(0, 500));
  } catch (error) {
    const message = errorMessage(error);
    throw new ToolFailure("bad_pattern", `The filter is not a regular expression: ${message}`, { cause: error });
  }
}

const killParameters = z.strictObject({
  shell_id: z.string().min(1).max(40).describe("Id of the background command, e.g. b1."),
});

/** Ends a command in the background. */
export function killShellTool(background: Pick<BackgroundRuns, "stop">): BuiltInTool<z.infer<typeof killParameters>> {
  return {
    name: "KillShell",
    description: "Ends a command that Bash started with run_in_background.",
    parameters: killParameters,
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
