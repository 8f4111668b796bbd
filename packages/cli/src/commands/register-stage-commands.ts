import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import { serverOptions, workspaceCommand } from "./options/shared-options.ts";

/** `gennai stage …`: files that git ignores, that a session's commands made, and that the workspace does not have. */
export function registerStageCommands(program: Command, { runs }: CommandHost): void {
  const stage = program
    .command("stage")
    .description("list, keep or drop ignored files that commands made (builds, dependencies)");
  const command = (name: string, description: string): Command =>
    serverOptions(workspaceCommand(stage, name, description)).option(
      "--session <id>",
      "of this session (default: the newest of the workspace that has any)",
    );
  command("list", "list these files by tree: number, bytes, a digest, and the command that made them last").action(
    runs(async () => (await import("./stage-commands.ts")).stageListCommand),
  );
  command("keep", "put such trees into the workspace, where rules allow it: programs here will run what is in them")
    .argument("<paths...>", "trees of the list, e.g. dist")
    .option("--yes", "do not ask")
    .action(runs(async () => (await import("./stage-commands.ts")).stageKeepCommand));
  command("drop", "drop such trees: later commands of the session see what the workspace has")
    .argument("[paths...]", "trees of the list (default: all)")
    .action(runs(async () => (await import("./stage-commands.ts")).stageDropCommand));
}
