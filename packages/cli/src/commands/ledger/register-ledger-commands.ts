import type { Command } from "commander";
import type { CommandHost } from "../command-host.ts";
import { workspaceCommand, workspaceOption } from "../options/shared-options.ts";

export function registerLedgerCommands(program: Command, { runs }: CommandHost): void {
  const ledger = program
    .command("ledger")
    .description("check, repair and show the workspace's signed record of what was done");
  workspaceCommand(ledger, "verify", "check signatures and chain")
    .option("--public-key <file>", "check as a third party, by this key alone")
    .option("--bundle <file>", "check an exported bundle, offline")
    .option("--against <files...>", "compare with what other systems got of it: our lines, OCSF, or OTLP in JSON")
    .option("--anchors <files...>", "compare with heads in these witness files; those in git's notes are always read")
    .option("--witness <keys...>", "a witness to be trusted for the time of an anchor, as NAME+KEYID+BASE64")
    .addHelpText("after", verifyHelp)
    .action(runs(async () => (await import("./ledger-commands.ts")).ledgerVerifyCommand));
  workspaceCommand(
    ledger,
    "repair",
    "write the ledger's file again from the store, or remove an incomplete last line; keeps a copy",
  ).action(runs(async () => (await import("./ledger-commands.ts")).ledgerRepairCommand));
  workspaceCommand(ledger, "show", "show the last records")
    .option("--limit <number>", "how many", "20")
    .action(runs(async () => (await import("./ledger-commands.ts")).ledgerShowCommand));
  workspaceCommand(ledger, "explain <id>", "explain a record: what happened, who agreed, and by which rule")
    .addHelpText("after", "\nThe id: the number of a record, its id or the beginning of it, or the id of a call.\n")
    .action(runs(async () => (await import("./ledger-explain-command.ts")).ledgerExplainCommand));
  workspaceCommand(ledger, "rotate-key", "sign with a new key from now on, and hand every ledger over to it").action(
    runs(async () => (await import("./ledger-commands.ts")).ledgerRotateKeyCommand),
  );
  ledger
    .command("accept-rollback")
    .description("go on with a database that is older than what was signed; the ledgers record the loss")
    .option("--json", "print JSON")
    .action(runs(async () => (await import("./ledger-commands.ts")).ledgerAcceptRollbackCommand));
  workspaceOption(ledger.command("export").description("write the records out, redacted once more"))
    .option(
      "--format <format>",
      "agent-trace: lines of Agent Trace 0.1.0; bundle: one signed file with records and key; seed001: older names",
      "agent-trace",
    )
    .option("--include <parts>", "what is in it besides the chain, of records, prompts; none (default: records)")
    .option("--dry-run", "write nothing: list what would be exported")
    .addHelpText("after", exportHelp)
    .option("--out <file>", "a new file (default: standard output)")
    .action(runs(async () => (await import("./ledger-export-command.ts")).ledgerExportCommand));
  workspaceCommand(
    ledger,
    "anchor",
    "sign the newest head and keep it elsewhere, so that a rewritten ledger is detected",
  )
    .option("--to <file>", "add it to this witness file")
    .option("--git", "add it to git's notes of the present commit (refs/notes/gennai-anchors)")
    .addHelpText("after", anchorHelp)
    .action(runs(async () => (await import("./ledger-anchor-command.ts")).ledgerAnchorCommand));
  workspaceCommand(ledger, "resend <range>", "send records to an export once more, e.g. 12..40 that it rejected")
    .requiredOption("--name <export>", "as the policy or server.json names it")
    .action(runs(async () => (await import("./ledger-resend-command.ts")).ledgerResendCommand));
  ledger
    .command("page")
    .description("write the page that checks an exported bundle in a browser: one file, no network")
    .option("--out <file>", "a new file (default: ledger-page.html)")
    .action(runs(async () => (await import("./ledger-page-command.ts")).ledgerPageCommand));
  const purge = ledger
    .command("purge")
    .description("forget sessions for good: their log, files, and the content of their records; the chain stays");
  workspaceOption(purge)
    .option("--session <id>", "only this session (default: all of the workspace)")
    .option("--yes", "do not ask")
    .option("--json", "print JSON")
    .action(runs(async () => (await import("./ledger-purge-command.ts")).ledgerPurgeCommand));
}

const verifyHelp = `
Exit codes: 0 sound, 10 broken chain, 11 bad signature, 12 tail cut off, 13 missing file, 14 unknown key, 15 torn last
line, 16 malformed line, 17 unsigned, 18 behind the store, 19 differs from the store, 20 unsafe path, 21 no key, 22 store rolled back,
23 contradicts an anchor, 24 contradicts a copy, 25 copy incomplete.
`;

const exportHelp = `
An export holds the actions, and nothing of the conversations: sessions, with their titles, prompts and answers, are in a bundle with --include
records,prompts, and in no other format. The inputs of calls are part of what a record signs, so they go with records; with --include none
there is the chain alone.
`;

const anchorHelp = `
A head is a checkpoint as c2sp.org/tlog-checkpoint has it: a name for the ledger, the number of its records, the root of the Merkle tree
over their hashes. The ledger's key signs it, and signs the time as well. It says nothing of what was recorded, or where.

Anyone who holds the key can sign another ledger, but not make others forget this head. So it counts as far as somebody else keeps the file, or
the notes were pushed: git push origin refs/notes/gennai-anchors.
`;
