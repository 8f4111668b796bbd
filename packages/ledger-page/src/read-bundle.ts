import { type ChosenAnchors, type Judged, judgeBundle } from "@gennai/governance/ledger/anchor/judged-by-anchors";
import {
  type BundleReport,
  type BundleSource,
  bundleRecords,
  verifyBundle,
} from "@gennai/governance/ledger/verify-bundle";
import { type TimelineRecord, timelineRecord } from "@gennai/repl/timeline/timeline-record";
import { isSigned, webVerifier } from "./web-verifier.ts";

/** Records that are held to be looked at; of a longer ledger the newest. */
const mostHeld = 5_000;

/** Bytes up to which a file that is not laid out as we write it is read, whole. */
const mostWhole = 256 * 1024 * 1024;

/** What a bundle came to. */
export interface ReadBundle {
  readonly report: Judged<BundleReport>;
  /** Of a bundle that is sound, oldest first; none of one that is not. */
  readonly records: readonly TimelineRecord[];
}

export interface ReadOptions {
  /** Kept heads of the ledger. */
  readonly anchors?: ChosenAnchors | undefined;
  readonly onRead?: (bytes: number) => void;
  readonly mostShown?: number;
}

/**
 * Checks a bundle by the code that `gennai ledger verify --bundle` uses. Never rejects for what is in it.
 * @param publicKey SPKI PEM of the one who must have signed; undefined: the bundle's own, which proves less
 */
export async function readBundle(
  file: Blob,
  publicKey: string | undefined,
  { anchors, onRead, mostShown = mostHeld }: ReadOptions = {},
): Promise<ReadBundle> {
  const source = fileSource(file, onRead);
  const checked = await verifyBundle(source, publicKey, { verifierOf: webVerifier, mostWhole });
  const report = await judgeBundle(checked, source, publicKey, anchors, { verify: isSigned, mostWhole });
  if (report.status !== "ok") return { report, records: [] };
  let records: TimelineRecord[] = [];
  for await (const line of bundleRecords(source, { mostWhole })) {
    records.push(timelineRecord(records.length + 1, line));
    if (records.length > 2 * mostShown) records = records.slice(-mostShown);
  }
  const shown = records.slice(-mostShown);
  // Seqs have no gaps in a chain that is sound, and it ends with the last.
  const first = report.records - shown.length + 1;
  return { report, records: shown.map((record, at) => ({ ...record, seq: first + at })) };
}

/** The bytes of a file piece by piece, from the start each time. @param onRead told how many were read of this pass */
function fileSource(file: Blob, onRead: (bytes: number) => void = () => undefined): BundleSource {
  return async function* read() {
    const reader = file.stream().getReader();
    let bytes = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        bytes += value.length;
        onRead(bytes);
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  };
}
