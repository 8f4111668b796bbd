import type { ExportedRecord } from "@gennai/governance/ledger/exported-record";

/** What became of a batch. Nothing is skipped: what was not taken is sent again, or waits for a person. */
export type Delivery =
  /** @param rejected of what it took, in words; it may not be sent again */
  | { readonly type: "taken"; readonly rejected?: string }
  /** It may take the same batch later. @param afterMs what it said itself */
  | { readonly type: "later"; readonly why: string; readonly afterMs?: number | undefined }
  /** It will not take this batch however often it is sent. */
  | { readonly type: "refused"; readonly why: string };

/** Sends batches to one destination. */
export interface Sender {
  /** Never rejects but by the signal's abort. @param lines or messages, in order */
  send(batch: readonly ExportItem[], signal: AbortSignal): Promise<Delivery>;
}

export interface ExportItem {
  readonly record: ExportedRecord;
  /** Without a line break. */
  readonly line: string;
}
