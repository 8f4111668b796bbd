import type { LoggedEvent, SessionEvent } from "@gennai/agent/events/session-event";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";

/** An event before it has its place. */
export interface EventDraft {
  readonly turnId: string;
  /** Empty if the event belongs to no item. */
  readonly itemId: string;
  readonly time: number;
  readonly event: SessionEvent;
}

/** What goes in together or not at all. */
export interface LogBatch {
  readonly events: readonly EventDraft[];
  /** Records for the workspace's ledger, chained and signed on the way in. */
  readonly ledger: readonly LedgerEntry[];
  /** SHA-256 of approval tokens that are spent with it. One that was spent before makes `append` reject: nothing is in then. */
  readonly spentTokens?: readonly string[];
  /** True: synced to disk before `append` resolves. Side effects, questions and answers need it; deltas do not. */
  readonly durable: boolean;
}

export interface SessionHead {
  readonly sessionId: string;
  readonly workspaceRoot: string;
  /** Whose session it is, of the users of this log; empty where there is only one. */
  readonly user: string;
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly updated: number;
  readonly lastSeq: number;
  /** Counts the owners the session had; a writer with an older one is refused. */
  readonly epoch: number;
}

export interface SessionFilter {
  readonly workspaceRoot?: string;
  readonly user?: string;
  readonly limit: number;
}

/** What went with a session that was forgotten: a count each. */
export interface ForgottenSession {
  readonly events: number;
  /** Ledger records that lost their content and kept their place in the chain. */
  readonly records: number;
  /** Contents that nobody else refers to. */
  readonly blobs: number;
}

/** Thrown by `append` when another writer was faster or took the session over: the batch is not in. */
export class AppendConflict extends Error {
  override readonly name = "AppendConflict";
}

/** Where sessions are kept. One conformance suite runs against every implementation. */
export interface SessionLog extends AsyncDisposable {
  create(session: {
    readonly sessionId: string;
    readonly workspaceRoot: string;
    readonly time: number;
    readonly user?: string;
  }): Promise<SessionHead>;
  head(sessionId: string): Promise<SessionHead | undefined>;
  /** Newest first. */
  list(filter: SessionFilter): Promise<readonly SessionHead[]>;
  setTitle(sessionId: string, title: string): Promise<void>;
  /** A new owner: the epoch after it. */
  takeOver(sessionId: string): Promise<number>;
  /** Rejects with `AppendConflict` unless the last seq is `expectedSeq` and the epoch is the newest. */
  append(
    sessionId: string,
    batch: LogBatch,
    expected: { readonly seq: number; readonly epoch: number },
  ): Promise<readonly LoggedEvent[]>;
  /**
   * Forgets a session for good, with what only it needs; its ledger records keep their place, without content. Tails of it end
   * with `StoreError` `session_deleted`. After a crash it is there whole or gone, and what is left of it goes at the next
   * opening. Rejects with `StoreError` `unknown_session`, `busy` while another process runs a turn of it.
   * @param by name of the one who asked for it
   */
  forget(sessionId: string, by: string): Promise<ForgottenSession>;
  /** Events after `afterSeq`, in order, at most `limit`. */
  read(sessionId: string, afterSeq: number, limit: number): Promise<readonly LoggedEvent[]>;
  /** Replays after `afterSeq`, then follows until the signal aborts or the session is forgotten. Never skips: a slow reader reads from the store. */
  tail(
    sessionId: string,
    afterSeq: number,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<readonly LoggedEvent[]>;
}

/** Large content by digest, 0600, erased by purge. */
export interface BlobStore {
  /** On the disk when it resolves; with `durable` false it may be gone, or damaged, after a power cut, and not after a crash. */
  put(bytes: Uint8Array, mediaType: string, options?: { readonly durable?: boolean }): Promise<BlobRef>;
  /** Undefined if there is none. */
  get(sha256: string): Promise<Uint8Array | undefined>;
}
