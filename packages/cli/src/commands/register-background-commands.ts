import type { Command } from "commander";
import type { BackgroundFlags, BackgroundLogsFlags, BackgroundOpenFlags } from "./background-commands.ts";
import type { CommandHost } from "./command-host.ts";
import { serverOptions, workspaceOption } from "./options/shared-options.ts";

/** `gennai background …`: the servers and watchers that the agent started. */
export function registerBackgroundCommands(program: Command, { console, ended }: CommandHost): void {
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
    .action(async (flags: BackgroundFlags) => {
      const { backgroundListCommand } = await import("./background-commands.ts");
      ended(await backgroundListCommand(flags, console));
    });
  command("logs", "show what a background command printed recently")
    .argument("<id>", "e.g. b1")
    .option("--follow", "go on until it ends, or Ctrl+C")
    .action(async (id: string, flags: BackgroundLogsFlags) => {
      const { backgroundLogsCommand } = await import("./background-commands.ts");
      ended(await backgroundLogsCommand(id, flags, console));
    });
  command("stop", "end a background command")
    .argument("<id>", "e.g. b1")
    .action(async (id: string, flags: BackgroundFlags) => {
      const { backgroundStopCommand } = await import("./background-commands.ts");
      ended(await backgroundStopCommand(id, flags, console));
    });
  command("open", "let programs of the server's machine reach its port, until it ends")
    .argument("<id>", "e.g. b1")
    .argument("<port>", "the port on which it listens")
    .option("--port <number>", "on 127.0.0.1 (default: any free one)")
    .action(async (id: string, port: string, flags: BackgroundOpenFlags) => {
      const { backgroundOpenCommand } = await import("./background-commands.ts");
      ended(await backgroundOpenCommand(id, port, flags, console));
    });
}

const help = `
What runs in the background has no network but that of its session. An open port leads your browser to code of the agent's;
what a page of it does there, your browser does.`;
