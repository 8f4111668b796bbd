import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import { workspaceCommand } from "./options/shared-options.ts";

export function registerIntentsCommands(program: Command, { runs }: CommandHost): void {
  const intents = program
    .command("intents")
    .description("list and switch intents: what the agent may work on in this workspace");
  const intent = (name: string, description: string): Command => workspaceCommand(intents, name, description);
  intent("list", "list the intents, and what is wrong with their file").action(
    runs(async () => (await import("./intents-commands.ts")).intentsListCommand),
  );
  intent("show", "show an intent in full")
    .argument("<id>", "the intent, as the list names it")
    .action(runs(async () => (await import("./intents-commands.ts")).intentsShowCommand));
  intent("init", "make an example of an intents file").action(
    runs(async () => (await import("./intents-commands.ts")).intentsInitCommand),
  );
  intent("accept", "accept the intents file as it is now; needed in mode required").action(
    runs(async () => (await import("./intents-commands.ts")).intentsAcceptCommand),
  );
  intent("mode", "show or set whether changes need an intent here")
    .argument("[mode]", "auto: where the intents file is, or was; required: always; off: never")
    .action(runs(async () => (await import("./intents-commands.ts")).intentsModeCommand));
}
