import type { Command } from "commander";
import type { CommandHost } from "../command-host.ts";
import { serverOptions, workspaceOption } from "../options/shared-options.ts";
import type { SessionBundleFlags } from "./session-bundle-commands.ts";
import type { SessionFlags, SessionListFlags } from "./sessions-commands.ts";
import type { SessionsDeleteFlags } from "./sessions-delete-command.ts";
import type { SessionsWorktreesFlags } from "./sessions-worktrees-command.ts";
import type { UndoFlags } from "./undo-command.ts";

/** `gennai undo` and `gennai sessions …`: what sessions did, and the sessions themselves. */
export function registerSessionsCommands(program: Command, host: CommandHost): void {
  registerUndo(program, host);
  registerSessions(program, host);
}

function registerUndo(program: Command, { console, ended }: CommandHost): void {
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
    .action(async (paths: string[], flags: UndoFlags) => {
      const { undoCommand } = await import("./undo-command.ts");
      ended(await undoCommand(paths, flags, console));
    });
}

function registerSessions(program: Command, { console, ended }: CommandHost): void {
  const sessions = program
    .command("sessions")
    .description("list the sessions of the workspace, newest first; rename, fork or delete one");
  workspaceOption(serverOptions(sessions))
    .option("--all", "of every workspace")
    .option("--json", "one JSON object a line");
  // Options of the list may come before the subcommand too, and mean the same for all.
  const flagsOf = (command: Command): SessionFlags => command.optsWithGlobals();
  sessions
    .command("list", { isDefault: true })
    .description("list the sessions, as gennai sessions alone does")
    .action(async (_flags: object, command: Command) => {
      const { sessionsCommand } = await import("./sessions-commands.ts");
      ended(await sessionsCommand(command.optsWithGlobals<SessionListFlags>(), console));
    });
  sessions
    .command("rename")
    .description("give a session a title")
    .argument("<id>", "the session")
    .argument("<title>", "one line of at most 200 characters")
    .action(async (id: string, title: string, _flags: object, command: Command) => {
      const { sessionsRenameCommand } = await import("./sessions-commands.ts");
      ended(await sessionsRenameCommand(id, title, flagsOf(command), console));
    });
  sessions
    .command("delete")
    .description("delete a session for good; its ledger records stay without content, exported files are not touched")
    .argument("<id>", "the session")
    .option("--yes", "do not ask")
    .action(async (id: string, _flags: object, command: Command) => {
      const { sessionsDeleteCommand } = await import("./sessions-delete-command.ts");
      ended(await sessionsDeleteCommand(id, command.optsWithGlobals<SessionsDeleteFlags>(), console));
    });
  sessions
    .command("export")
    .description("write a session into one file: what was said, redacted once more; without what undo needs")
    .argument("<id>", "the session")
    .option("--out <file>", "a new file (default: standard output)")
    .option("--dry-run", "write nothing: list what would be exported")
    .action(async (id: string, _flags: object, command: Command) => {
      const { sessionsExportCommand } = await import("./session-bundle-commands.ts");
      ended(await sessionsExportCommand(id, command.optsWithGlobals<SessionBundleFlags>(), console));
    });
  sessions
    .command("import")
    .description("make a new session from such a file; decisions and approvals in it do not count")
    .argument("<file>", "what gennai sessions export wrote")
    .action(async (file: string, _flags: object, command: Command) => {
      const { sessionsImportCommand } = await import("./session-bundle-commands.ts");
      ended(await sessionsImportCommand(file, command.optsWithGlobals<SessionBundleFlags>(), console));
    });
  sessions
    .command("worktrees")
    .description("list the working trees that gennai run --worktree made")
    .option("--prune", "remove those in which nobody works and nothing is uncommitted; their branches stay")
    .action(async (_flags: object, command: Command) => {
      const { sessionsWorktreesCommand } = await import("./sessions-worktrees-command.ts");
      ended(await sessionsWorktreesCommand(command.optsWithGlobals<SessionsWorktreesFlags>(), console));
    });
  sessions
    .command("fork")
    .description("start a session that begins with the history of another one")
    .argument("<id>", "the session whose history it gets")
    .action(async (id: string, _flags: object, command: Command) => {
      const { sessionsForkCommand } = await import("./sessions-commands.ts");
      ended(await sessionsForkCommand(id, flagsOf(command), console));
    });
}
