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
}

/** Why a write was let happen. */
export type WriteDecision =
  /** No rule asked. `rule`: the one that let it through, empty when none had to. */
  | { readonly type: "allowed"; readonly rule: string }
  /** A person said yes. */
  | { readonly type: "approved"; readonly rule: string; readonly by: string; readonly scope: string }
  /** A person kept it in the review of a proposal; the counts are of hunks of the whole proposal. */
  | {
      readonly type: "reviewed";
      readonly proposalId: string;
      readonly kept: number;
      readonly refused: number;
      readonly edited: number;
    }
  /** The call belonged to a plan that a person approved. */
  | { readonly type: "planned"; readonly step: string; readonly rule: string }
  /** A person did it: took changes back, or put files in their place. */
  | { readonly type: "person" }
  /** Who handed it on chose not to say. */
  | { readonly type: "untold" };
