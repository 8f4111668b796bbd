import { changeNotes, noteOf } from "@gennai/git/git-notes";
import { openLedgerSigner } from "@gennai/store/ledger/ledger-key";
import { tracedLines } from "./commit-origins.ts";
import { type SharedPart, sharedWrite } from "./shared-parts.ts";
import { type TraceRecord, traceLine, traceRecord, traceRecords } from "./trace-record.ts";
import type { WorkspaceProvenance } from "./workspace-provenance.ts";

export interface NoteRequest {
  readonly workspaceRoot: string;
  readonly stateDir: string;
  /** The whole id of a commit. */
  readonly commit: string;
  readonly parts: ReadonlySet<SharedPart>;
  readonly toolVersion: string;
  readonly now: () => number;
}

/** What would go along with a commit; undefined when no recorded call wrote a line of it. Changes nothing. */
export async function noteFor(provenance: WorkspaceProvenance, request: NoteRequest): Promise<TraceRecord | undefined> {
  const { workspaceRoot, stateDir, parts, toolVersion, now } = request;
  const lines = await tracedLines(provenance, workspaceRoot, request.commit, (write) => sharedWrite(write, parts));
  if (lines.length === 0) return undefined;
  const about = { revision: request.commit, time: now(), toolVersion };
  return traceRecord(lines, about, await openLedgerSigner(stateDir));
}

/** Puts it into the commit's note. What others wrote there stays; what this key wrote of the commit before goes. */
export async function writeNote(workspaceRoot: string, record: TraceRecord): Promise<void> {
  const { revision } = record.vcs;
  await changeNotes(workspaceRoot, async () => {
    const kept = linesBesides(await noteOf(workspaceRoot, revision), (other) => keyOf(other) === keyOf(record));
    return new Map([[revision, [...kept, traceLine(record), ""].join("\n")]]);
  });
}

function keyOf(record: TraceRecord): string {
  return record.metadata["dev.gennai"].key_id;
}

function linesBesides(note: string, isLeftOut: (record: TraceRecord) => boolean): readonly string[] {
  return note.split("\n").filter((line) => line !== "" && !traceRecords(line).some(isLeftOut));
}
