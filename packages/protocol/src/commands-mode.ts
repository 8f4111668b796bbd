/**
 * How commands run. `auto`: staged where the workspace can be staged, else asked about. `staged`: otherwise they do not run. `ask`:
 * in the workspace itself, and each that does more than read is asked about.
 */
export type CommandsMode = "auto" | "staged" | "ask";

export const commandsModes: readonly CommandsMode[] = ["auto", "staged", "ask"];

/** Words of the two options, and settings, of version 0.2 that said this together. */
export const formerModes: Readonly<Record<string, CommandsMode>> = { auto: "auto", required: "staged", off: "ask" };

/** As `GetServerInfoResponse.stages` and `GET /health` say it, in the words of 0.2. */
export function stagesWord(mode: CommandsMode): string {
  return mode === "staged" ? "required" : mode === "ask" ? "off" : "auto";
}
