import { agreed } from "../../terminal/agreed.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { type Said, said } from "../command-host.ts";
import { type WorkspaceServerFlags, workspaceServer } from "../options/workspace-server.ts";

export interface SessionsDeleteFlags extends WorkspaceServerFlags {
  readonly yes?: boolean;
}

/** `gennai sessions delete <id>`: cannot be undone, so it asks first; without a terminal it needs `--yes`. */
export async function sessionsDeleteCommand(
  sessionId: string,
  flags: SessionsDeleteFlags,
  console: Console,
): Promise<Said | number> {
  await using server = await workspaceServer(flags, console);
  // Before the question: find out which session it is, and that it exists.
  const { session } = await server.client.resumeSession({ sessionId });
  const title = session?.title === undefined || session.title === "" ? "without a title" : `“${session.title}”`;
  if (flags.yes !== true) {
    console.errors.write(
      `Session ${sessionId}, ${terminalSafe(title)}: the conversation is deleted, and with it undo, checkpoints and ignored files that its commands made.\n` +
        "Your files stay as they are. The ledger still shows that something was done, but not what; git notes of this repository about it are removed.\n" +
        "Exported files, trailers in commits and notes that were pushed stay.\n",
    );
    if (!(await agreed("Delete it for good? [y/N] ", "Deleting is for good", console))) {
      console.errors.write("Nothing was deleted.\n");
      return exitCode.refused;
    }
  }
  const { events, contents, ledgerRecords } = await server.client.deleteSession({ sessionId });
  return said(
    { sessionId, events, contents, ledgerRecords },
    `Deleted session ${sessionId} with ${events} events and ${contents} files; ${ledgerRecords} records of the ledger lost their content and keep their place.\n`,
  );
}
