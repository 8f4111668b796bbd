import { ledgerLines } from "../../audit/ledger-export.ts";
import { openLedgerSigner } from "../../ledger/ledger-key.ts";
import type { LedgerLocation } from "../../ledger/ledger-location.ts";
import { readWrites } from "../read-writes.ts";
import type { WorkspaceProvenance } from "../workspace-provenance.ts";
import { tracedLines } from "./commit-origins.ts";
import { notedCommits, noteOf, putNote } from "./git-notes.ts";
import { type SharedPart, sharedWrite } from "./shared-parts.ts";
import { type TraceRecord, traceLine, traceRecord, traceRecords } from "./trace-record.ts";

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
  const kept = linesBesides(await noteOf(workspaceRoot, revision), (other) => keyOf(other) === keyOf(record));
  await putNote(workspaceRoot, revision, [...kept, traceLine(record), ""].join("\n"));
}

/**
 * Takes from the repository's notes what this state directory's key signed of some writes. Copies elsewhere stay, and so does what
 * git keeps of the notes' own history until it is pruned. @returns how many notes changed
 */
export async function forgetNotes(
  workspaceRoot: string,
  stateDir: string,
  isForgotten: (recordId: string) => boolean,
): Promise<number> {
  const commits = await notedCommits(workspaceRoot);
  if (commits.length === 0) return 0;
  const { keyId } = await openLedgerSigner(stateDir);
  let changed = 0;
  for (const commit of commits) {
    const note = await noteOf(workspaceRoot, commit);
    const isGone = (record: TraceRecord): boolean =>
      keyOf(record) === keyId && record.metadata["dev.gennai"].writes.some(({ record_id: id }) => isForgotten(id));
    if (!traceRecords(note).some(isGone)) continue;
    const kept = linesBesides(note, isGone);
    await putNote(workspaceRoot, commit, kept.length === 0 ? "" : [...kept, ""].join("\n"));
    changed += 1;
  }
  return changed;
}

/** The ids of the records that tell of writes: of one session, or of all. */
export function writtenRecords(location: LedgerLocation, sessionId: string | undefined): ReadonlySet<string> {
  const writes = readWrites(ledgerLines(location));
  const ofSession = writes.filter((write) => sessionId === undefined || write.sessionId === sessionId);
  return new Set(ofSession.map(({ recordId }) => recordId));
}

function keyOf(record: TraceRecord): string {
  return record.metadata["dev.gennai"].key_id;
}

function linesBesides(note: string, isLeftOut: (record: TraceRecord) => boolean): readonly string[] {
  return note.split("\n").filter((line) => line !== "" && !traceRecords(line).some(isLeftOut));
}
