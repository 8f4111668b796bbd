import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import { commandsOption, protectOption, serverOptions, workspaceOption } from "./options/shared-options.ts";

/** Beside the other commands of `gennai mcp`, which are registered before. */
export function registerMcpServeCommand(program: Command, { runs }: CommandHost): void {
  const group = program.commands.find((command) => command.name() === "mcp") ?? program.command("mcp");
  const command = group
    .command("serve")
    .description("serve our tools to an agent that speaks the Model Context Protocol and starts this");
  commandsOption(serverOptions(protectOption(workspaceOption(command))))
    .option("--branch <name>", "the branch to work on (default: a new one if a protected branch is checked out)")
    .addHelpText("after", help)
    .action(runs(async () => (await import("./mcp-serve-command.ts")).mcpServeCommand));
}

const help = `
An agent speaks with it over standard input and output, so there is nothing to see at a terminal. In the agent's settings:
  command: gennai     arguments: mcp serve --workspace /path/to/the/project
Its tools are Read, Edit, Write, Bash and the rest, behind the same rules, questions and ledger as every session; a question is asked by the agent, where it
has elicitation, and is a no elsewhere. Switch the agent's own tools off: what they do comes past no rule.
`;
