import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import { commandsOption, modelOptions, protectOption, serverOptions } from "./options/shared-options.ts";

export function registerAcpCommand(program: Command, { runs }: CommandHost): void {
  const command = program
    .command("acp")
    .description("serve an editor that speaks the Agent Client Protocol (Zed, JetBrains, Neovim) and starts this");
  command.option(
    "--set-key <provider>",
    "ask for a provider's key, and keep it in the keychain: an editor starts this in a terminal",
  );
  commandsOption(serverOptions(protectOption(modelOptions(command))))
    .addHelpText("after", help)
    .action(runs(async () => (await import("./acp-command.ts")).acpCommand));
}

const help = `
An editor speaks with it over standard input and output, so there is nothing to see at a terminal. In the editor's settings:
  command: gennai     arguments: acp
With --set-key anthropic it only asks for that key, for the keychain of the system. Without one, the key comes from the environment:
GENNAI_API_KEY, ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY.
Rules, questions and the ledger are those of every other session; its questions are asked in the editor.
`;
