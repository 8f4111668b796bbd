import type { AvailableCommand } from "@agentclientprotocol/sdk";
import type { SlashCommand } from "@gennai/client/commands/command";
import { spelledOut } from "@gennai/protocol/hidden-characters";

/** Commands as an editor lists them. */
export function availableCommands(commands: readonly SlashCommand[]): AvailableCommand[] {
  return commands.map(({ name, argument, description }) => ({
    name,
    description: spelledOut(description),
    input: argument === "" ? null : { hint: argument },
  }));
}
