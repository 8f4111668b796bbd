import { type LedgerEntry, outsideTurns } from "./ledger-entry.ts";

/** Records from one seq to another, both included. */
export type SeqRange = readonly [first: number, last: number];

/** What a purge removed from a ledger, according to its tombstone. */
export interface Purge {
  readonly scope: "session" | "workspace";
  /** Seqs of the records whose content is gone. */
  readonly records: readonly number[];
  /** Numbers of other removed things. */
  readonly removed: Readonly<Record<string, number>>;
  /** Who requested it, e.g. the user's account name. */
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** Ranges that one tombstone names: a record carries lists of a thousand members at most. */
const rangesInOne = 500;

/** The tombstones of a purge, mostly one. They name no session: that would keep what was to go. */
export function tombstones(purge: Purge): readonly LedgerEntry[] {
  const ranges = seqRanges(purge.records);
  const entries: LedgerEntry[] = [];
  for (let start = 0; start === 0 || start < ranges.length; start += rangesInOne) {
    entries.push({
      kind: "purge",
      time: purge.time,
      ...outsideTurns,
      details: {
        scope: purge.scope,
        by: purge.by,
        records: ranges.slice(start, start + rangesInOne),
        removed: start === 0 ? purge.removed : {},
      },
    });
  }
  return entries;
}

/** The ranges a tombstone names; undefined when its details are not those of one. */
export function rangesOfTombstone(details: unknown): readonly SeqRange[] | undefined {
  if (typeof details !== "object" || details === null || !("records" in details)) return undefined;
  const { records } = details;
  return Array.isArray(records) && records.every(isRange) ? records : undefined;
}

function isRange(value: unknown): value is SeqRange {
  return Array.isArray(value) && value.length === 2 && value.every((seq) => Number.isSafeInteger(seq));
}

function seqRanges(seqs: readonly number[]): readonly SeqRange[] {
  const ranges: [number, number][] = [];
  for (const seq of [...new Set(seqs)].sort((one, other) => one - other)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === seq - 1) last[1] = seq;
    else ranges.push([seq, seq]);
  }
  return ranges;
}
