import type { TracedWrite } from "@gennai/protocol/model/governance/line-trace";

/** The ledger's data about one written file: by whom, why, and who allowed it. */
export interface RecordedWrite extends TracedWrite {
  readonly recordId: string;
  readonly operation: "create" | "update" | "delete";
  /** The changed blocks; none where the record does not tell them. */
  readonly blocks: readonly { readonly startLine: number; readonly endLine: number; readonly sha256: string }[];
  readonly isUndo: boolean;
  /**
   * Texts with which a person replaced proposed ones: the author of each line is not recorded. `unknown`: the texts are not
   * recorded either.
   */
  readonly edited: readonly string[] | "unknown";
}
