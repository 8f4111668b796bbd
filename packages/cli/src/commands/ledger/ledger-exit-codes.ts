import type { CopyReport } from "@gennai/governance/ledger/check-copy";
import type { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";

export type WorkspaceLedgerReport = Awaited<ReturnType<WorkspaceLedger["verify"]>>;

/** Exit codes of `gennai ledger verify`; 1 and 2 mean what they mean for every command: failure and wrong usage. */
export const ledgerExitCodes: Readonly<
  Record<WorkspaceLedgerReport["status"] | "contradicts_anchor" | CopyReport["status"], number>
> = {
  ok: 0,
  broken_chain: 10,
  bad_signature: 11,
  truncated_tail: 12,
  missing_file: 13,
  unknown_key: 14,
  torn_last_line: 15,
  malformed_line: 16,
  unsigned: 17,
  behind_store: 18,
  differs_from_store: 19,
  unsafe_path: 20,
  no_key: 21,
  rolled_back: 22,
  contradicts_anchor: 23,
  contradicts_copy: 24,
  copy_incomplete: 25,
};
