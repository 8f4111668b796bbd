import type { Risk } from "@gennai/protocol/model/governance/risk";
import type { Connection } from "../network/connection.ts";
import type { FileChange, PutBackFile } from "../tool.ts";

/** What a ledger record says, before it is chained and signed. Text in it is redacted already. */
export interface LedgerEntry {
  /** `intent` before an effect, `outcome` after; the rest are decisions of people. `purge`: content of earlier records is gone. `key`: another key signs from the next record on. `rollback`: records that were signed are lost. */
  readonly kind:
    | "intent"
    | "outcome"
    | "refusal"
    | "review"
    | "applied"
    | "undo"
    | "session"
    | "emergency"
    | "purge"
    | "key"
    | "rollback";
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly sessionId: string;
  readonly turnId: string;
  /** The model that contributed, e.g. `offline`; empty when a person did. */
  readonly modelId: string;
  /** Commit the workspace stood on; empty without git. */
  readonly revision: string;
  /** Calls of one batch of parallel reads share a record. */
  readonly calls: readonly LedgerCall[];
  readonly files: readonly FileChange[];
  /** What else is known, JSON values only; `intent`: the id of the intent that was worked under. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** What an entry that belongs to no turn says of one. */
export const outsideTurns = {
  sessionId: "",
  turnId: "",
  modelId: "",
  revision: "",
  calls: [],
  files: [],
} as const satisfies Partial<LedgerEntry>;

export interface LedgerCall {
  readonly callId: string;
  readonly tool: string;
  /** Normalised and redacted. */
  readonly input: unknown;
  readonly verdict: "allow" | "ask" | "deny";
  readonly rule: string;
  readonly risk: Risk;
  /** Id of the plan's step that the call belongs to; absent outside of a plan's run. */
  readonly planStep?: string;
  /** RFC 3339; absent in an intent. */
  readonly started?: string;
  readonly stopped?: string;
  readonly exitCode?: number;
  readonly failureClass?: string;
  /** Control files that the call changed unasked, and that are as they were again. */
  readonly putBack?: readonly PutBackFile[];
  /** What of the network it was let reach, or refused: URLs, or `HOST:PORT`. */
  readonly reaches?: readonly string[];
  /** Of a staged command: every connection that it made or wanted to make. */
  readonly connections?: readonly Connection[];
  readonly verification?: "verified" | "unverified" | "failed";
  readonly confirmation?: {
    readonly answer: string;
    readonly by: string;
    readonly scope?: string;
    /** The pattern that a yes was given for, when it was given for more than the exact action. */
    readonly pattern?: string;
    /** What of a staged command's changes was not kept, because this person chose so; absent where all of it was. */
    readonly dropped?: readonly string[];
    /** Of a remembered yes: the call whose question was answered. */
    readonly remembered_from?: string;
  };
  /** Other questions of the same call that somebody was asked, in their order: before it ran, or while it did. */
  readonly alsoAsked?: readonly (Pick<LedgerCall, "verdict" | "rule" | "risk" | "reaches"> &
    Required<Pick<LedgerCall, "confirmation">>)[];
}
