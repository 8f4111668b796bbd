import type { Risk } from "@gennai/protocol/model/governance/risk";
import type { Connection } from "../connection.ts";
import type { GivenAnswer } from "../gate-journal.ts";
import type { FileChange, RefMove } from "../tool.ts";

/** Content of a ledger record before it is chained and signed. Already redacted. */
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
  /** Commit of the workspace; empty without git. */
  readonly revision: string;
  /** Calls of one batch of parallel reads share a record. */
  readonly calls: readonly LedgerCall[];
  readonly files: readonly FileChange[];
  /** Further JSON values; `intent`: id of the selected intent. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** Turn fields of an entry outside any turn. */
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
  /** Id of the plan step that the call belongs to; absent outside a plan's run. */
  readonly planStep?: string;
  /** RFC 3339; absent in an intent. */
  readonly started?: string;
  readonly stopped?: string;
  readonly exitCode?: number;
  readonly failureClass?: string;
  /** What it was allowed or refused to reach: URLs, or `HOST:PORT`, behind what was to be sent there with a login. */
  readonly reaches?: readonly string[];
  /** For a staged command: what it moved in the workspace's repository. */
  readonly refs?: readonly RefMove[];
  /** For a staged command: every connection that it made or wanted to make; in the record of its end, without those of an intent before. */
  readonly connections?: readonly Connection[];
  readonly verification?: "verified" | "unverified" | "failed";
  readonly confirmation?: Omit<GivenAnswer, "answer" | "rememberedFrom"> & {
    readonly answer: string;
    /** For a remembered yes: the call whose question was answered. */
    readonly remembered_from?: string;
  };
  /** Other questions about the same call, in order: before it ran, or during it. */
  readonly alsoAsked?: readonly (Pick<LedgerCall, "verdict" | "rule" | "risk" | "reaches"> &
    Required<Pick<LedgerCall, "confirmation">>)[];
}
