import { slashCommands, typedCommand } from "@gennai/client/commands/slash-commands";
import { errorMessage } from "@gennai/protocol/error-message";
import type { ReplControl } from "../control/repl-control.ts";
import { carryOut, slashPlace } from "./slash-place.ts";

/** The result of a prompt that begins with `/` and a name. */
export type SlashOutcome =
  /** The command ran. `note` is shown to the user. */
  | { readonly type: "ran"; readonly note: string | undefined }
  | { readonly type: "failed"; readonly note: string }
  /** There is no such command: the text is an ordinary prompt, and `note` says so. */
  | { readonly type: "unknown"; readonly note: string };

/** Runs the command that a prompt begins with; undefined for a prompt without one, e.g. a path. Never rejects. */
export function runSlash(control: ReplControl, prompt: string): Promise<SlashOutcome> | undefined {
  const typed = typedCommand(prompt);
  if (typed === undefined) return undefined;
  const { name, text } = typed;
  const place = slashPlace(control);
  const command = slashCommands(place).find((each) => each.name === name);
  if (command === undefined) {
    return Promise.resolve({
      type: "unknown",
      note: `There is no command /${name}: it was sent as it is. /help lists them.`,
    });
  }
  const run = async () => carryOut(control, await command.run(place, text));
  return run().then(
    (note): SlashOutcome => ({ type: "ran", note }),
    (error: unknown): SlashOutcome => ({
      type: "failed",
      note: `/${name} failed: ${errorMessage(error)}`,
    }),
  );
}
