import { type ChangedFile, changedFiles, parentOf } from "./changed-files.ts";
import type { RecordedWrite } from "./matching/recorded-write.ts";
import { linesOf } from "./matching/text-lines.ts";
import type { TracedLines } from "./trace-record.ts";
import type { LineOrigin, WorkspaceProvenance } from "./workspace-provenance.ts";

/** A file of a change, and whose each line is that came in. */
export interface FileOrigins {
  readonly file: ChangedFile;
  /** By line, 1-based; only of lines that are new. */
  readonly origins: ReadonlyMap<number, LineOrigin>;
}

/** Whose the lines are that came in between two commits. */
export async function originsBetween(
  provenance: WorkspaceProvenance,
  directory: string,
  from: string | undefined,
  to: string,
): Promise<readonly FileOrigins[]> {
  const found: FileOrigins[] = [];
  for (const file of await changedFiles(directory, from, to)) {
    const origins = new Map<number, LineOrigin>();
    if (file.text !== undefined && file.added.length > 0) {
      const all = await provenance.originsOf(file.path, file.text);
      for (const { start, end } of file.added) {
        for (let line = start; line <= end; line += 1) {
          const origin = all[line - 1];
          if (origin !== undefined) origins.set(line, origin);
        }
      }
    }
    found.push({ file, origins });
  }
  return found;
}

/** The lines of a commit that recorded writes brought, as they go along with it. @param shared says what of a write goes along */
export async function tracedLines(
  provenance: WorkspaceProvenance,
  directory: string,
  commit: string,
  shared: (write: RecordedWrite) => RecordedWrite,
): Promise<readonly TracedLines[]> {
  const traced: TracedLines[] = [];
  const parent = await parentOf(directory, commit);
  for (const { file, origins } of await originsBetween(provenance, directory, parent, commit)) {
    const lines = linesOf(file.text ?? "");
    const byWrite = new Map<number, { write: RecordedWrite; ranges: { start: number; end: number }[] }>();
    for (const [line, origin] of origins) {
      if (origin.type !== "recorded") continue;
      const entry = byWrite.get(origin.write.seq) ?? { write: shared(origin.write), ranges: [] };
      byWrite.set(origin.write.seq, entry);
      const last = entry.ranges.at(-1);
      if (last?.end === line - 1) last.end = line;
      else entry.ranges.push({ start: line, end: line });
    }
    for (const { write, ranges } of byWrite.values()) {
      const told = ranges.map(({ start, end }) => ({ start, end, text: lines.slice(start - 1, end).join("\n") }));
      traced.push({ path: file.path, write, ranges: told });
    }
  }
  return traced;
}
