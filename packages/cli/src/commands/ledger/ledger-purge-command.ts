import { KeptAttempts } from "@gennai/sessions/attempts/kept-attempts";
import { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";
import { KeptPrompts } from "../../client/kept-prompts.ts";
import { agreed } from "../../terminal/agreed.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { version } from "../../terminal/version.ts";
import { type Said, said } from "../command-host.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";

export interface LedgerPurgeFlags extends WorkspaceFlags {
  readonly session?: string;
  readonly yes?: boolean;
}

/** `gennai ledger purge`: cannot be undone, so it asks first; without a terminal it needs `--yes`. */
export async function ledgerPurgeCommand(flags: LedgerPurgeFlags, console: Console): Promise<Said | number> {
  const { workspaceRoot, stateDir } = await placeHere(flags, console);
  const { session } = flags;
  const what = session === undefined ? `all sessions of ${workspaceRoot}` : `session ${session}`;
  const question = `Forget ${what} for good? Undo and replay will be gone. [y/N] `;
  if (flags.yes !== true && !(await agreed(question, "Purging is for good", console))) {
    console.errors.write("Nothing was purged.\n");
    return exitCode.refused;
  }
  const kept = new KeptAttempts(stateDir);
  if (session === undefined) for (const { set } of kept.list(workspaceRoot)) await kept.drop(set.id);
  const ledger = new WorkspaceLedger({ workspaceRoot, stateDir });
  const request = { toolVersion: version, ...(session === undefined ? {} : { sessionId: session }) };
  const report = await ledger.purge(request);
  await new KeptPrompts(stateDir).forget(session === undefined ? { workspace: workspaceRoot } : { session });
  const { sessions, events, records, blobs, notes } = report;
  const text =
    sessions + records + blobs === 0
      ? session === undefined && notes === 0
        ? "There was nothing to purge.\n"
        : "It was purged or deleted before. The remains are gone now.\n"
      : `Purged ${sessions} sessions with ${events} events, ${blobs} files, and the content of ${records} records; their place in the chain stays.\n`;
  return said(report, notes > 0 ? text + notesText(notes) : text);
}

/** What remains that this machine cannot remove. */
function notesText(count: number): string {
  return `${count === 1 ? "1 git note tells" : `${count} git notes tell`} of it no more, nor does the notes' own history here. git's garbage collection takes what no reference
leads to, at once with git gc --prune=now. Copies that were pushed stay until git push --force origin refs/notes/agent-trace, and trailers in
commits, exported bundles and reports stay.
`;
}
