import { originOf } from "@gennai/governance/ledger/anchor/checkpoint";
import { readLedgerLine } from "@gennai/governance/ledger/read-ledger-line";
import type { ExportDestination } from "@gennai/governance/limits/export-schema";
import { readLedgerRecords } from "@gennai/store/audit/ledger-records";
import { ExportCursor } from "@gennai/store/ledger/export-cursor";
import type { Delivery } from "./delivery.ts";
import { sent as sendOnce } from "./ledger-export.ts";
import { senderTo } from "./senders.ts";

/** Records of one request. */
const atOnce = 512;

/**
 * Sends records of a workspace's ledger once more, in order; what the destination has of them already it knows by their ids. Stops at
 * the first that is not taken or not there. What was taken fills gaps. Rejects with `StoreError`.
 */
export async function resendRecords(
  destination: ExportDestination,
  range: { readonly from: number; readonly to: number },
  place: {
    readonly stateDir: string;
    readonly workspaceRoot: string;
    readonly version: string;
    /** Milliseconds that a receiver has to answer. */
    readonly answerMs?: number;
  },
  signal: AbortSignal,
): Promise<{ readonly sent: number; readonly delivery: Delivery }> {
  const { stateDir, workspaceRoot, version, answerMs } = place;
  const [first] = readLedgerRecords(stateDir, workspaceRoot, 0, 1);
  const read = first && readLedgerLine(first.json);
  if (read?.type !== "record") return { sent: 0, delivery: { type: "refused", why: "there are no records here" } };
  const origin = originOf(read.record.hash);
  const sender = await senderTo(destination, version);
  using cursor = await ExportCursor.open(stateDir);
  let sent = 0;
  for (let after = range.from - 1; after < range.to; ) {
    const limit = Math.min(atOnce, range.to - after);
    const records = readLedgerRecords(stateDir, workspaceRoot, after, limit).filter(({ seq }) => seq <= range.to);
    const last = records.at(-1);
    if (last === undefined)
      return { sent, delivery: { type: "refused", why: `the ledger has no record ${after + 1}` } };
    const batch = { origin, records: records.map(({ json: line }) => ({ line })) };
    const delivery = await sendOnce(batch, { destination, sender, version, signal, answerMs });
    if (delivery.type !== "taken" || delivery.rejected !== undefined) return { sent, delivery };
    sent += records.length;
    cursor.fillGaps(destination.name, origin, { from: after + 1, to: last.seq });
    after = last.seq;
  }
  return { sent, delivery: { type: "taken" } };
}
