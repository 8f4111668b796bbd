import type { WriteDecision } from "@gennai/protocol/model/governance/line-trace";

/** What the ledger says of one file that was written: by whom, why, and who let it happen. */
export interface RecordedWrite {
  /** Of the record in its ledger, from 1. */
  readonly seq: number;
  readonly recordId: string;
  /** RFC 3339, UTC. */
  readonly time: string;
  readonly path: string;
  readonly operation: "create" | "update" | "delete";
  readonly beforeSha256: string | undefined;
  readonly afterSha256: string | undefined;
  /** The changed blocks; none where the record does not tell them. */
  readonly blocks: readonly { readonly startLine: number; readonly endLine: number; readonly sha256: string }[];
  readonly sessionId: string;
  /** Empty for what a person did between turns. */
  readonly turnId: string;
  readonly call: { readonly id: string; readonly tool: string } | undefined;
  /** Empty when the record does not name one. */
  readonly model: string;
  /** Another agent whose call was judged here, e.g. `claude-code`; undefined for our own. */
  readonly agent: string | undefined;
  /** The intent that was worked under, e.g. `INT-001`; undefined: none was selected. */
  readonly intent: string | undefined;
  readonly decision: WriteDecision;
  /** `untold`: who handed it on chose not to say. */
  readonly verification: "verified" | "unverified" | "failed" | "untold";
  readonly isUndo: boolean;
  /** Texts that a person put in the place of proposed ones: whose each line of them is, nobody recorded. `unknown`: nor which they are. */
  readonly edited: readonly string[] | "unknown";
}
