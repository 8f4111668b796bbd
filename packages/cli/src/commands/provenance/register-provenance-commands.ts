import type { Command } from "commander";
import type { CommandHost } from "../command-host.ts";
import { workspaceOption } from "../options/shared-options.ts";
import type { BlameFlags } from "./blame-command.ts";

/** Where lines came from. */
export function registerProvenanceCommands(program: Command, { console, ended }: CommandHost): void {
  workspaceOption(
    program
      .command("blame")
      .description(
        "say of each line of a file who wrote it, under which intent, and who allowed it, as far as it is recorded",
      )
      .argument("<file[:lines]>", "e.g. src/parse.ts, src/parse.ts:40 or src/parse.ts:40-60"),
  )
    .option("--since <when>", "only what was written since: a commit, branch or tag, or a date (2026-11-01)")
    .option("--bundle <file>", "by an exported bundle in place of this machine's ledger: for a clone, elsewhere")
    .option("--public-key <file>", "whose signature the bundle must have")
    .option("--json", "print JSON; the text of the file is not in it")
    .addHelpText("after", blameHelp)
    .action(async (file: string, flags: BlameFlags) => {
      const { blameCommand } = await import("./blame-command.ts");
      ended(await blameCommand(file, flags, console));
    });
}

const blameHelp = `
Each line is looked for in what recorded calls wrote: by its text and its neighbours first, then by what git tells of the file's
names. So it is known again after it was formatted, moved, copied, or came into git by another commit. #4 is record 4 of the ledger:
gennai ledger explain 4 tells more. A line without one is unknown: · nothing recorded is like it, or it stood there already;
? several calls may have written it. Who wrote it is never guessed.

What is signed is the ledger. Commit messages and git notes are claims of whoever wrote them, and are not asked.

--json prints one object: file, trust ({status, message, source}), lines ([{line, record}] or [{line, unknown, candidates}], each
record with method and confidence), records (by number).

Exit codes: 0; 1 when the file or the ledger cannot be read, 2 for a wrong call, 10 when the ledger is not as it was signed; the
answers are printed all the same.
`;
