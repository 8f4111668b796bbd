import type { Command } from "commander";
import type { CommandHost } from "../command-host.ts";
import { serverOptions, workspaceOption } from "../options/shared-options.ts";

/** `gennai undo` and `gennai sessions …`: what sessions did, and the sessions themselves. */
export function registerSessionsCommands(program: Command, host: CommandHost): void {
  registerUndo(program, host);
  registerSessions(program, host);
}

function registerUndo(program: Command, { runs }: CommandHost): void {
  const undo = program
    .command("undo")
    .description("undo the newest change set of the workspace, or more with --turn or --to");
  workspaceOption(serverOptions(undo))
    .argument("[paths...]", "with --turn or --to: only these files or directories")
    .option("--session <id>", "of this session")
    .option("--agent <name>", "of the newest guarded session of this agent, e.g. claude-code")
    .option("--kept", "what gennai try kept last; a second time: what it kept before that")
    .option("--list", "list what can be undone: turns and checkpoints")
    .option("--turn <number>", "everything since before this turn, by commands too")
    .option("--to <checkpoint>", "everything since this checkpoint")
    .option("--rest", "undo the rest where you changed the same lines since")
    .option("--dry-run", "only say what would be done")
    .option("--force", "restore the named files also where somebody else changed them since")
    .option("--json", "print what was done as JSON")
    .action(runs(async () => (await import("./undo-command.ts")).undoCommand));
}

function registerSessions(program: Command, { runs }: CommandHost): void {
  const sessions = program
    .command("sessions")
    .description("list the sessions of the workspace, newest first; rename, fork or delete one");
  workspaceOption(serverOptions(sessions))
    .option("--all", "of every workspace")
    .option("--json", "one JSON object a line");
  // Options of the list may come before the subcommand too, and mean the same for all.
  sessions
    .command("list", { isDefault: true })
    .description("list the sessions, as gennai sessions alone does")
    .action(runs(async () => (await import("./sessions-commands.ts")).sessionsCommand));
  sessions
    .command("rename")
    .description("give a session a title")
    .argument("<id>", "the session")
    .argument("<title>", "one line of at most 200 characters")
    .action(runs(async () => (await import("./sessions-commands.ts")).sessionsRenameCommand));
  sessions
    .command("delete")
    .description("delete a session for good; its ledger records stay without content, exported files are not touched")
    .argument("<id>", "the session")
    .option("--yes", "do not ask")
    .action(runs(async () => (await import("./sessions-delete-command.ts")).sessionsDeleteCommand));
  sessions
    .command("export")
    .description("write a session into one file: what was said, redacted once more; without what undo needs")
    .argument("<id>", "the session")
    .option("--out <file>", "a new file (default: standard output)")
    .option("--dry-run", "write nothing: list what would be exported")
    .action(runs(async () => (await import("./session-bundle-commands.ts")).sessionsExportCommand));
  sessions
    .command("import")
    .description("make a new session from such a file; decisions and approvals in it do not count")
    .argument("<file>", "what gennai sessions export wrote")
    .action(runs(async () => (await import("./session-bundle-commands.ts")).sessionsImportCommand));
  sessions
    .command("worktrees")
    .description("list the working trees that gennai run --worktree made")
    .option("--prune", "remove those in which nobody works and nothing is uncommitted; their branches stay")
    .action(runs(async () => (await import("./sessions-worktrees-command.ts")).sessionsWorktreesCommand));
  sessions
    .command("fork")
    .description("start a session that begins with the history of another one")
    .argument("<id>", "the session whose history it gets")
    .action(runs(async () => (await import("./sessions-commands.ts")).sessionsForkCommand));
}
