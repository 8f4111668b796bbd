import * as z from "zod";
import { ledgerLines } from "../../audit/ledger-export.ts";
import type { LedgerLocation } from "../../ledger/file/ledger-location.ts";
import { isSignedHere, openLedgerSigner } from "../../ledger/keys/ledger-key.ts";
import type { WorkspaceProvenance } from "../workspace-provenance.ts";
import { tracedLines } from "./commit-origins.ts";
import { changeNotes, notedCommits, noteOf } from "./git-notes.ts";
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
  await changeNotes(workspaceRoot, async () => {
    const kept = linesBesides(await noteOf(workspaceRoot, revision), (other) => keyOf(other) === keyOf(record));
    return new Map([[revision, [...kept, traceLine(record), ""].join("\n")]]);
  });
}

/**
 * Takes from the repository's notes what a key of this state directory signed of writes that were purged from its ledger, now or
 * earlier. Copies elsewhere stay, and so does what git keeps of the notes' own history until it is pruned.
 * @returns how many notes changed
 */
export async function forgetNotes(location: LedgerLocation): Promise<number> {
  const { workspaceRoot, stateDir } = location;
  if ((await notedCommits(workspaceRoot)).length === 0) return 0;
  const purged = purgedRecords(location);
  if (purged.size === 0) return 0;
  // Also the keys that signed before this one: the same record's id may stand in the ledger of another machine.
  const isOurs = isSignedHere(stateDir);
  const isGone = (record: TraceRecord): boolean =>
    isOurs({ keyId: keyOf(record) }) &&
    record.metadata["dev.gennai"].writes.some(({ record_id: id }) => purged.has(id));
  let count = 0;
  await changeNotes(workspaceRoot, async () => {
    const changed = new Map<string, string>();
    for (const commit of await notedCommits(workspaceRoot)) {
      const note = await noteOf(workspaceRoot, commit);
      if (!traceRecords(note).some(isGone)) continue;
      const kept = linesBesides(note, isGone);
      changed.set(commit, kept.length === 0 ? "" : [...kept, ""].join("\n"));
    }
    count = changed.size;
    return changed;
  });
  return count;
}

const purgedSchema = z.object({ id: z.string(), metadata: z.object({ purged: z.literal(true) }) });

/** The ids of the records whose content is gone: these stay in the chain. */
function purgedRecords(location: LedgerLocation): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const line of ledgerLines(location)) {
    if (!line.includes('"purged":true')) continue;
    const { data } = purgedSchema.safeParse(JSON.parse(line));
    if (data !== undefined) ids.add(data.id);
  }
  return ids;
}

function keyOf(record: TraceRecord): string {
  return record.metadata["dev.gennai"].key_id;
}

function linesBesides(note: string, isLeftOut: (record: TraceRecord) => boolean): readonly string[] {
  return note.split("\n").filter((line) => line !== "" && !traceRecords(line).some(isLeftOut));
}
