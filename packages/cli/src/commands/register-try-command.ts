import type { Command } from "commander";
import type { CommandHost } from "./command-host.ts";
import { collect, workspaceOption } from "./options/shared-options.ts";

/** `gennai try`: a person's own command, of which nothing is kept unless the person says so. */
export function registerTryCommand(program: Command, { runs }: CommandHost): void {
  workspaceOption(
    program
      .command("try")
      .description("run a command on a copy, see what it would change, and keep all, some, or nothing of it")
      .argument("<command...>", "one shell command in quotes, or a program and its arguments behind --"),
  )
    .option("--keep", "do not ask: keep what no rule asks about or refuses, except what git ignores")
    .option("--include <path>", "with --keep: this as well, named as in the list, e.g. dist; repeatable", collect)
    .option("--drop", "do not ask: keep nothing")
    .option("--allow <host:port>", "let it reach this without a question; repeatable", collect)
    .option("--ask", "ask even when the input is no terminal")
    .option("--timeout <seconds>", "until it is ended", "600")
    .option("--json", "print JSON; what the command prints is in it")
    .addHelpText("after", help)
    .action(runs(async () => (await import("./try-command.ts")).tryCommand));
}

const help = `
It runs over a copy of the workspace, without your home and with files of secrets hidden; it has no input. It has no network:
what it wants to reach is refused, you are asked, and after a yes it runs again from the beginning, with that host and port and
no other. --allow says yes ahead, gennai answers allow for every such command; what was reached is in the ledger. Logins of yours
are not there.
What it changed is listed with what the rules say of it. Keep "all" of it (except what rules refuse), "rest" (except what they ask
about and what git ignores, too), or changes by their numbers; whatever you keep is written together and is in the
ledger; gennai undo --kept undoes it. A directory that git ignores (node_modules, dist) is one change. Nothing of a command that
was ended is kept.

--json prints one object: state (exited, timed-out, aborted, too-much-output, over-limit), exitCode, output (1 MiB of it),
leftOut (bytes), connections, notes, verdict, changes ({id, needs, name, what, verdict, rule, reason, ignored}), neverKept, diff, kept (names).

Exit codes: the command's own; 1 when it did not end by itself, 2 for a wrong call, 3 when there was nobody to ask, so that
nothing was kept, 130 and 143 when you ended it.
`;
