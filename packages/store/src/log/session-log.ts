import type { LoggedEvent, SessionEvent } from "@gennai/agent/events/session-event";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import type { BlobRef } from "@gennai/protocol/model/session/proposal";

/** An event that has no position yet. */
export interface EventDraft {
  readonly turnId: string;
  /** Empty if the event belongs to no item. */
  readonly itemId: string;
  readonly time: number;
  readonly event: SessionEvent;
}

/** What is appended completely or not at all. */
export interface LogBatch {
  readonly events: readonly EventDraft[];
  /** Records for the workspace's ledger, chained and signed on the way in. */
  readonly ledger: readonly LedgerEntry[];
  /** SHA-256 of approval tokens that the batch spends. If one was spent before, `append` rejects, and nothing is appended. */
  readonly spentTokens?: readonly string[];
  /** True: synced to disk before `append` resolves. Side effects, questions and answers need it; deltas do not. */
  readonly durable: boolean;
}

/** The last event of a session, and its newest owner, as whoever appends knows them. */
export interface LogPlace {
  readonly seq: number;
  readonly epoch: number;
}

export interface NewSession extends Pick<SessionHead, "sessionId" | "workspaceRoot"> {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly user?: string;
}

export interface SessionHead {
  readonly sessionId: string;
  readonly workspaceRoot: string;
  /** User of the session; empty if the log has only one user. */
  readonly user: string;
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly updated: number;
  readonly lastSeq: number;
  /** Number of owners that the session has had; a writer with an older number is refused. */
  readonly epoch: number;
}

export interface SessionFilter {
  readonly workspaceRoot?: string;
  readonly user?: string;
  readonly limit: number;
}

/** What was removed with a forgotten session, as counts. */
export interface ForgottenSession {
  readonly events: number;
  /** Ledger records that lost their content but keep their place in the chain. */
  readonly records: number;
  /** Contents that nothing else refers to. */
  readonly blobs: number;
}

/** Thrown by `append` if another writer was faster or took the session over: the batch was not appended. */
export class AppendConflict extends Error {
  override readonly name = "AppendConflict";
}

/** Where sessions are kept. One conformance suite runs against every implementation. */
export interface SessionLog extends AsyncDisposable {
  /** After a power cut, a session without durable events may be missing. Rejects if it exists. */
  create(session: NewSession): Promise<SessionHead>;
  head(sessionId: string): Promise<SessionHead | undefined>;
  /** Newest first. */
  list(filter: SessionFilter): Promise<readonly SessionHead[]>;
  setTitle(sessionId: string, title: string): Promise<void>;
  /** Starts a new owner. @returns the new epoch */
  takeOver(sessionId: string): Promise<number>;
  /** Rejects with `AppendConflict` unless the last seq is `expectedSeq` and the epoch is the newest. */
  append(sessionId: string, batch: LogBatch, expected: LogPlace): Promise<readonly LoggedEvent[]>;
  /**
   * Forgets a session for good, with everything that only it needs; its ledger records keep their place, without content. Tails
   * of it end with `StoreError` `session_deleted`. After a crash the session is complete or gone, and left-over data is removed
   * at the next opening. Rejects with `StoreError` `unknown_session`, and `busy` while another process runs a turn of it.
   * @param by name of the person who asked for it
   */
  forget(sessionId: string, by: string): Promise<ForgottenSession>;
  /** Events after `afterSeq`, in order, at most `limit`. */
  read(sessionId: string, afterSeq: number, limit: number): Promise<readonly LoggedEvent[]>;
  /**
   * Replays events after `afterSeq`, then follows until the signal aborts or the session is forgotten. Skips nothing: a slow
   * reader reads from the store.
   */
  tail(
    sessionId: string,
    afterSeq: number,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<readonly LoggedEvent[]>;
}

/** Large content by digest, 0600, erased by purge. */
export interface BlobStore {
  /** On disk when it resolves. With `durable` false, it survives a crash, but a power cut may lose or damage it. */
  put(bytes: Uint8Array, mediaType: string, options?: { readonly durable?: boolean }): Promise<BlobRef>;
  /** Undefined if there is no such content. */
  get(sha256: string): Promise<Uint8Array | undefined>;
}
