import type { Command } from "commander";
import type { CommandHost } from "../command-host.ts";
import { workspaceOption } from "../options/shared-options.ts";

/** Commands about where lines came from. */
export function registerProvenanceCommands(program: Command, { runs }: CommandHost): void {
  workspaceOption(
    program
      .command("blame")
      .description(
        "show for each line of a file who wrote it, under which intent, and who allowed it, as far as it is recorded",
      )
      .argument("<file[:lines]>", "in the workspace, e.g. src/parse.ts, src/parse.ts:40 or src/parse.ts:40-60"),
  )
    .option("--since <when>", "only what was written since: a commit, branch or tag, or a date (2026-11-01)")
    .option("--bundle <file>", "from an exported bundle instead of this machine's ledger, for a clone elsewhere")
    .option("--notes", "from git's notes instead of this machine's ledger, as gennai provenance note wrote them")
    .option("--public-key <file>", "whose signature the bundle, or a note, must have")
    .option("--json", "print JSON; the text of the file is not in it")
    .addHelpText("after", blameHelp)
    .action(runs(async () => (await import("./blame-command.ts")).blameCommand));
  workspaceOption(
    program
      .command("report")
      .description(
        "report for a pull request how much an agent wrote, under which intents, what was asked and refused, and what was not verified",
      ),
  )
    .requiredOption("--since <ref>", "the branch that the change is for; later commits of that branch do not count")
    .option("--to <ref>", "its newest commit (default: HEAD)")
    .option("--format <format>", "markdown, html, json, or in-toto: signed by the ledger's key", "markdown")
    .option("--out <file>", "to a new file that only you can read, instead of standard output")
    .option("--include <parts>", `what is told, of ${sharedPartNames}; none (default: ${usualPartNames})`)
    .option("--dry-run", "write no file: list what would be shared, and print the report")
    .option("--bundle <file>", "from an exported bundle instead of this machine's ledger")
    .option("--notes", "from git's notes instead of this machine's ledger; they hold no questions")
    .option("--public-key <file>", "whose signature the bundle, or a note, must have")
    .option("--json", "the same as --format json")
    .addHelpText("after", reportHelp)
    .action(runs(async () => (await import("./report-command.ts")).reportCommand));
  const provenance = program.command("provenance").description("attach the origin of lines to commits");
  workspaceOption(
    provenance
      .command("note")
      .description(
        "write a git note for a commit: which of its lines recorded calls wrote, as a signed Agent Trace record",
      )
      .argument("[commit]", "a commit, branch or tag (default: HEAD)"),
  )
    .option("--include <parts>", `what of a write goes along, of ${sharedPartNames}; none (default: ${usualPartNames})`)
    .option("--dry-run", "write nothing: list what would go along, and print the record")
    .addHelpText("after", noteHelp)
    .action(runs(async () => (await import("./note-command.ts")).noteCommand));
  workspaceOption(
    provenance
      .command("trailer")
      .description("print Assisted-by lines for a commit that has lines of an agent's")
      .argument("[commit]", "a commit, branch or tag (default: HEAD)"),
  )
    .option("--amend", "put them into the newest commit's message; refused once it is in a remote branch")
    .option("--dry-run", "change nothing: list what would be shared, and print the lines")
    .addHelpText("after", trailerHelp)
    .action(runs(async () => (await import("./trailer-command.ts")).trailerCommand));
}

// Copied from the store's `shared-parts.ts`, which is not loaded at start; a test compares them.
const sharedPartNames = "model, intent, decision, verification, call, session, people";
const usualPartNames = "model,intent,decision,verification";

const reportHelp = `
What is committed counts, not what lies in the working tree. Lines are known as by gennai blame, and the report works offline. An HTML
page is one file without scripts. Prompts, answers and texts of files are never in a report; people who said yes or no are named where
--include has people.

Exit codes: 0; 1 when it cannot be made, 2 for a wrong call, 10 when the ledger is not as it was signed; the report says so.
`;

const noteHelp = `
Nothing is pushed. The note says of each block of lines which path, lines and SHA-256 it has and which record of the ledger it comes
from; prompts, answers and texts are never in it. It lies in refs/notes/agent-trace and is signed with the key of this machine's
ledger: gennai blame --notes --public-key FILE reads it in a clone.

Exit codes: 0; 1 when the ledger is not as it was signed or git refuses, 2 for a wrong call.
`;

const trailerHelp = `
git commit --trailer takes such a line. --amend makes the newest commit again with another message: tree, parents, author and dates
stay, a signature of the old message goes, its note goes along. A trailer is a claim: gennai blame never asks one.
`;

const blameHelp = `
Each line is looked for in what recorded calls wrote: by its text and its neighbours first, then by what git says about the file's
names. So it is known again after it was formatted, moved, copied, or came into git by another commit. #4 is record 4 of the ledger:
gennai ledger explain 4 tells more. A line without one is unknown: · no recorded line is like it, or it was there before;
? several calls may have written it. Who wrote it is never guessed.

What is signed is the ledger. Commit messages are claims of whoever wrote them, and are not asked; notes only with --notes, and then those
that --public-key signed. Without a key, nobody vouches for them: exit code 10.

--json prints one object: file, trust ({status, message, source}), lines ([{line, record}] or [{line, unknown, candidates}], each
record with method and confidence), records (by number).

Exit codes: 0; 1 when the file or the ledger cannot be read, 2 for a wrong call, 10 when the ledger is not as it was signed; the
answers are printed all the same.
`;
