import type { Command } from "commander";
import type { CommandHost } from "../command-host.ts";
import { workspaceOption } from "../options/shared-options.ts";
import type { TryFlags } from "./try-command.ts";

/** `gennai try`: a command of one's own, of which nothing becomes true without a word. */
export function registerTryCommand(program: Command, { console, ended }: CommandHost): void {
  workspaceOption(
    program
      .command("try")
      .description(
        "run a command where it can harm nothing, see what it would change, and keep that, some of it, or nothing",
      )
      .argument("<command...>", "one shell command in quotes, or a program and its arguments behind --"),
  )
    .option("--keep", "do not ask: keep what no rule asks about or refuses")
    .option("--drop", "do not ask: keep nothing")
    .option("--ask", "ask even when the input is no terminal")
    .option("--timeout <seconds>", "until it is ended", "600")
    .option("--json", "print JSON; what the command prints is in it")
    .addHelpText("after", help)
    .action(async (command: string[], flags: TryFlags) => {
      const { tryCommand } = await import("./try-command.ts");
      ended(await tryCommand(command, flags, console));
    });
}

const help = `
It runs over a copy of the workspace, with no network, without your home and with files of secrets hidden. What it changed is
listed with what the rules say of it. Keep "all" of it (but what rules refuse), "rest" (but what they ask about, too), or
changes by their numbers; whatever you keep becomes true together. Nothing of a command that was ended is kept.

Examples:
  gennai try "npm test"              somebody's branch, safely
  gennai try -- npx prettier --write .
  gennai try --keep "sed -i s/teh/the/ docs/*.md"

Exit codes: 0 it ended with 0, 1 it failed, 3 there was nobody to ask, so nothing was kept.
`;
