import { defaultStateDir } from "@gennai/machine/config/state-directory";
import { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";
import { forgetNotes } from "@gennai/store/provenance/sharing/share-notes";
import { exitCode } from "../../errors/exit-code.ts";
import { agreed } from "../../terminal/agreed.ts";
import type { Console } from "../../terminal/console.ts";
import { version } from "../../version.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import type { LedgerFlags } from "./ledger-commands.ts";

export interface LedgerPurgeFlags extends LedgerFlags {
  readonly session?: string;
  readonly yes?: boolean;
}

/** `gennai ledger purge`: for good, so it asks, and without a terminal it needs `--yes`. */
export async function ledgerPurgeCommand(flags: LedgerPurgeFlags, console: Console): Promise<number> {
  const workspaceRoot = await resolveWorkspace(flags.workspace, console);
  const { session } = flags;
  const what = session === undefined ? `all sessions of ${workspaceRoot}` : `session ${session}`;
  const question = `Forget ${what} for good? Undo and replay will be gone. [y/N] `;
  if (flags.yes !== true && !(await agreed(question, "Purging is for good", console))) {
    console.errors.write("Nothing was purged.\n");
    return exitCode.refused;
  }
  const location = { workspaceRoot, stateDir: defaultStateDir(console.environment) };
  const ledger = new WorkspaceLedger(location);
  const request = { toolVersion: version, ...(session === undefined ? {} : { sessionId: session }) };
  const [purge] = await Promise.allSettled([ledger.purge(request)]);
  // Only of what is purged. Also after a refusal: so a second try takes what the first could not, e.g. while git was locked.
  const notes = await forgetNotes(location);
  if (purge.status === "rejected") {
    if (notes > 0) console.errors.write(notesText(notes));
    throw purge.reason;
  }
  const report = purge.value;
  if (flags.json === true) console.output.write(`${JSON.stringify({ ...report, notes })}\n`);
  else {
    const { sessions, events, records, blobs } = report;
    console.output.write(
      sessions + records + blobs === 0
        ? "There was nothing to purge.\n"
        : `Purged ${sessions} sessions with ${events} events, ${blobs} files, and the content of ${records} records; their place in the chain stays.\n`,
    );
    if (notes > 0) console.output.write(notesText(notes));
  }
  return exitCode.ok;
}

/** What of it can not be reached from here. */
function notesText(count: number): string {
  return `${count === 1 ? "1 git note tells" : `${count} git notes tell`} of it no more. Copies that were pushed stay where they are, and so do trailers in commits,
exported bundles and reports. git keeps the notes' own history here until: git update-ref -d refs/notes/agent-trace, git reflog expire
--expire=now --all, git gc --prune=now (the first takes all notes).
`;
}
