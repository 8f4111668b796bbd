import type { Command } from "commander";
import type { AttemptsFlags, AttemptsTakeFlags } from "./attempts-commands.ts";
import type { CommandHost } from "./command-host.ts";
import { collect, workspaceCommand } from "./options/shared-options.ts";

/** `gennai attempts …`: the results of `gennai run --attempts`. */
export function registerAttemptsCommands(program: Command, { console, ended }: CommandHost): void {
  const attempts = program.command("attempts").description("list, look at and take what gennai run --attempts made");
  const ofOption = "of these attempts (default: the newest of the workspace)";
  workspaceCommand(
    attempts,
    "list",
    "list the prompts that were tried, newest first, and their attempts, best first",
  ).action(async (flags: AttemptsFlags) => {
    const { attemptsListCommand } = await import("./attempts-commands.ts");
    ended(await attemptsListCommand(flags, console));
  });
  workspaceCommand(attempts, "show", "show what an attempt changed, what it said, and the end of its check")
    .argument("<number>", "the attempt")
    .option("--of <id>", ofOption)
    .action(async (number: string, flags: AttemptsFlags) => {
      const { attemptsShowCommand } = await import("./attempts-commands.ts");
      ended(await attemptsShowCommand(number, flags, console));
    });
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
    .action(async (number: string, flags: AttemptsTakeFlags) => {
      const { attemptsTakeCommand } = await import("./attempts-commands.ts");
      ended(await attemptsTakeCommand(number, flags, console));
    });
  workspaceCommand(attempts, "drop", "delete attempts; they are deleted automatically after fourteen days")
    .argument("[id]", "of the list (default: all of the workspace)")
    .action(async (id: string | undefined, flags: AttemptsFlags) => {
      const { attemptsDropCommand } = await import("./attempts-commands.ts");
      ended(await attemptsDropCommand(id, flags, console));
    });
}
