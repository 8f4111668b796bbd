import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import { serverOptions, workspaceOption } from "./options/shared-options.ts";

/** `gennai background …`: the servers and watchers that the agent started. */
export function registerBackgroundCommands(program: Command, { runs }: CommandHost): void {
  const background = program
    .command("background")
    .description("list, read and stop servers and watchers that the agent started, and open their ports")
    .addHelpText("after", help);
  const command = (name: string, description: string): Command =>
    workspaceOption(serverOptions(background.command(name).description(description))).option(
      "--session <id>",
      "of this session (default: of all of the workspace; the newest one that has it)",
    );
  command("list", "list what runs, and what ended recently")
    .option("--json", "one JSON object a line")
    .action(runs(async () => (await import("./background-commands.ts")).backgroundListCommand));
  command("logs", "show what a background command printed recently")
    .argument("<id>", "e.g. b1")
    .option("--follow", "go on until it ends, or Ctrl+C")
    .action(runs(async () => (await import("./background-commands.ts")).backgroundLogsCommand));
  command("stop", "end a background command")
    .argument("<id>", "e.g. b1")
    .action(runs(async () => (await import("./background-commands.ts")).backgroundStopCommand));
  command("open", "let programs of the server's machine reach its port, until it ends")
    .argument("<id>", "e.g. b1")
    .argument("<port>", "the port on which it listens")
    .option("--port <number>", "on 127.0.0.1 (default: any free one)")
    .action(runs(async () => (await import("./background-commands.ts")).backgroundOpenCommand));
}

const help = `
What runs in the background has no network but that of its session. An open port leads your browser to code of the agent's;
what a page of it does there, your browser does.`;
