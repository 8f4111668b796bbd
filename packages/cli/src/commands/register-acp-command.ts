import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import { commandsOption, modelOptions, protectOption, serverOptions } from "./options/shared-options.ts";

export function registerAcpCommand(program: Command, { runs }: CommandHost): void {
  const command = program
    .command("acp")
    .description("serve an editor that speaks the Agent Client Protocol (Zed, JetBrains, Neovim) and starts this");
  commandsOption(serverOptions(protectOption(modelOptions(command))))
    .addHelpText("after", help)
    .action(runs(async () => (await import("./acp-command.ts")).acpCommand));
}

const help = `
An editor speaks with it over standard input and output, so there is nothing to see at a terminal. In the editor's settings:
  command: gennai     arguments: acp
Rules, questions and the ledger are those of every other session; its questions are asked in the editor.
`;
