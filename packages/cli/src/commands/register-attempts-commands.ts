import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import { collect, workspaceCommand } from "./options/shared-options.ts";

/** `gennai attempts …`: the results of `gennai run --attempts`. */
export function registerAttemptsCommands(program: Command, { runs }: CommandHost): void {
  const attempts = program.command("attempts").description("list, look at and take what gennai run --attempts made");
  const ofOption = "of these attempts (default: the newest of the workspace)";
  workspaceCommand(
    attempts,
    "list",
    "list the prompts that were tried, newest first, and their attempts, best first",
  ).action(runs(async () => (await import("./attempts-commands.ts")).attemptsListCommand));
  workspaceCommand(attempts, "show", "show what an attempt changed, what it said, and the end of its check")
    .argument("<number>", "the attempt")
    .option("--of <id>", ofOption)
    .action(runs(async () => (await import("./attempts-commands.ts")).attemptsShowCommand));
  workspaceCommand(
    attempts,
    "take",
    "review what an attempt changed, hunk by hunk, and put what you keep into the workspace; gennai undo undoes it",
  )
    .argument("<number>", "the attempt")
    .option("--of <id>", ofOption)
    .option("--yes", "do not ask: keep all")
    .option("--keep <hunk>", "keep only this, e.g. src/a.ts#2 or src/a.ts; repeatable", collect)
    .option("--refuse <hunk>", "keep all but this; repeatable", collect)
    .option("--ask", "ask even when the input is no terminal")
    .action(runs(async () => (await import("./attempts-commands.ts")).attemptsTakeCommand));
  workspaceCommand(attempts, "drop", "delete attempts; they are deleted automatically after fourteen days")
    .argument("[id]", "of the list (default: all of the workspace)")
    .action(runs(async () => (await import("./attempts-commands.ts")).attemptsDropCommand));
}
