import type { TracedWrite } from "@gennai/protocol/model/governance/line-trace";

/** What the ledger says of one file that was written: by whom, why, and who let it happen. */
export interface RecordedWrite extends TracedWrite {
  readonly recordId: string;
  readonly operation: "create" | "update" | "delete";
  /** The changed blocks; none where the record does not tell them. */
  readonly blocks: readonly { readonly startLine: number; readonly endLine: number; readonly sha256: string }[];
  readonly isUndo: boolean;
  /** Texts that a person put in the place of proposed ones: whose each line of them is, nobody recorded. `unknown`: nor which they are. */
  readonly edited: readonly string[] | "unknown";
}
