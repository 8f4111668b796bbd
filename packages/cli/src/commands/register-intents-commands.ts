import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import type { IntentsFlags } from "./intents-commands.ts";
import { workspaceCommand } from "./options/shared-options.ts";

export function registerIntentsCommands(program: Command, { console, ended }: CommandHost): void {
  const intents = program
    .command("intents")
    .description("list and switch intents: what the agent may work on in this workspace");
  const intent = (name: string, description: string): Command => workspaceCommand(intents, name, description);
  intent("list", "list the intents, and what is wrong with their file").action(async (flags: IntentsFlags) => {
    const { intentsListCommand } = await import("./intents-commands.ts");
    ended(await intentsListCommand(flags, console));
  });
  intent("show", "show an intent in full")
    .argument("<id>", "the intent, as the list names it")
    .action(async (id: string, flags: IntentsFlags) => {
      const { intentsShowCommand } = await import("./intents-commands.ts");
      ended(await intentsShowCommand(id, flags, console));
    });
  intent("init", "make an example of an intents file").action(async (flags: IntentsFlags) => {
    const { intentsInitCommand } = await import("./intents-commands.ts");
    ended(await intentsInitCommand(flags, console));
  });
  intent("accept", "accept the intents file as it is now; needed in mode required").action(
    async (flags: IntentsFlags) => {
      const { intentsAcceptCommand } = await import("./intents-commands.ts");
      ended(await intentsAcceptCommand(flags, console));
    },
  );
  intent("mode", "show or set whether changes need an intent here")
    .argument("[mode]", "auto: where the intents file is, or was; required: always; off: never")
    .action(async (mode: string | undefined, flags: IntentsFlags) => {
      const { intentsModeCommand } = await import("./intents-commands.ts");
      ended(await intentsModeCommand(mode, flags, console));
    });
}
