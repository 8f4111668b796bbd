import { notesRef } from "@gennai/git/git-notes";
import { noteFor, writeNote } from "@gennai/provenance/share-notes";
import { partWords, type SharedPart, sharedParts, usualParts } from "@gennai/provenance/shared-parts";
import type { TraceRecord } from "@gennai/provenance/trace-record";
import { CliError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { jsonLine, terminalSafe } from "../../terminal/terminal-safe.ts";
import { version } from "../../terminal/version.ts";
import type { Said } from "../command-host.ts";
import { partsOf } from "../options/chosen-parts.ts";
import type { WorkspaceFlags } from "../options/resolve-workspace.ts";
import { leavesText, leavingParts, neverLeaves } from "../options/what-leaves.ts";
import { commitNamed, openProvenance } from "./open-provenance.ts";

export interface NoteFlags extends WorkspaceFlags {
  readonly include?: string;
  readonly dryRun?: boolean;
}

/** `gennai provenance note [REF]`. */
export async function noteCommand(name: string | undefined, flags: NoteFlags, console: Console): Promise<Said> {
  const parts = partsOf(flags.include, { all: sharedParts, usual: usualParts });
  const { workspaceRoot, stateDir, provenance } = await openProvenance(flags, console);
  const { status, message } = provenance.trust;
  if (status !== "ok") {
    throw new CliError(`The ledger is not as it was signed (${status}): ${message}`, {
      next: ["Nothing was written. gennai ledger verify says more."],
    });
  }
  const commit = await commitNamed(name ?? "HEAD", workspaceRoot);
  const request = { workspaceRoot, stateDir, commit, parts, toolVersion: version, now: Date.now };
  const record = await noteFor(provenance, request);
  if (record === undefined) {
    console.errors.write(
      `No recorded call wrote a line that ${commit.slice(0, 12)} brought in. Nothing was written.\n`,
    );
    return { text: "" };
  }
  if (flags.dryRun === true) {
    console.errors.write(listed(parts, record));
    return { text: `${jsonLine(record)}\n` };
  }
  await writeNote(workspaceRoot, record);
  const files = record.files.map(({ path }) => path);
  const { length } = record.metadata["dev.gennai"].writes;
  const writes = length === 1 ? "1 write" : `${length} writes`;
  const what = `The note of ${commit.slice(0, 12)} in ${notesRef} names ${writes} in ${files.join(", ")}.`;
  return { text: `${terminalSafe(what)}\n${adviceText}` };
}

/** What of the ledger would be in the note, and what not. */
function listed(parts: ReadonlySet<SharedPart>, record: TraceRecord): string {
  const ranges = record.files.flatMap(({ conversations }) => conversations.flatMap((each) => each.ranges)).length;
  const blocks = `paths, line numbers and SHA-256 of each block (${ranges} in ${record.files.length} files)`;
  return leavesText("Would go along with the commit, to everybody who gets its notes:", [
    { leaves: true, name: "lines", what: blocks },
    {
      leaves: true,
      name: "record",
      what: "number, id and time of the ledger's record, the id of the key, a signature",
    },
    ...leavingParts(sharedParts, partWords, parts),
    neverLeaves,
  ]);
}

const adviceText = `Notes stay on this machine until they are pushed: git push origin ${notesRef}
They stay with a commit that git rewrites (rebase, amend) when it is told to, once in each repository:
  git config notes.rewriteRef ${notesRef}
A rebase that squashes keeps them all. After git merge --squash, and a merge that a server made, write the note again.
`;
