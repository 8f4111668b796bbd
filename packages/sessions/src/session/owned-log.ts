import type { ClientRequest } from "@gennai/agent/events/client-request";
import type { LoggedEvent } from "@gennai/agent/events/session-event";
import type { Redactor } from "@gennai/governance/redaction";
import type { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import { ServiceError } from "@gennai/machine/service-error";
import type { Stages } from "@gennai/shell/stages/stages";
import type { SessionHead, SessionLog } from "@gennai/store/log/session-log";
import { closeInterruptedTurn } from "./interrupted-turn.ts";
import { SessionWriter, type WriterCallers } from "./session-writer.ts";
import type { SessionState } from "./state/session-state.ts";

export interface LogServices {
  readonly log: SessionLog;
  readonly locks: ProcessLocks;
  /** Which of several servers with one log owns a session; without it, this machine's store has them all. */
  readonly ownership?: SessionOwnership;
  readonly callers: WriterCallers;
  readonly redactor: Redactor;
  readonly stages?: Pick<Stages, "recordsOf"> | undefined;
  readonly now: () => number;
}

/** A session's log in this process: who may write, and the only writer. Several processes may share a store. */
export class OwnedLog {
  readonly #services: LogServices;
  readonly #sessionId: string;
  readonly #state: SessionState;
  #writer: SessionWriter;
  /** Held from before a turn starts until after it ended: no other process runs one in that time. */
  #lock: Disposable | undefined;
  /** True from a turn's own check of the log until it ended: no other check takes the session over. */
  #isTurns = false;
  /** One check at a time: two would both take the session over. */
  #look: Promise<void> | undefined;

  constructor(services: LogServices, head: SessionHead, state: SessionState) {
    this.#services = services;
    this.#sessionId = head.sessionId;
    this.#state = state;
    this.#writer = this.#newWriter(head.epoch);
  }

  get writer(): SessionWriter {
    return this.#writer;
  }

  /** Call it before a turn. Rejects with `ServiceError` while another process runs one. */
  async acquire(): Promise<void> {
    await this.#refuseIfOwnedElsewhere();
    const attempt = this.#services.locks.tryAcquire(this.#lockName, "runs a turn");
    if (attempt.type === "held") throw busy(attempt.pid, "Subscribe to follow it, or stop that server.");
    this.#lock = attempt.lock;
  }

  /** After `acquire`, before the turn starts: reads the events of other processes, and makes the session ours until `release`. */
  async readyForTurn(): Promise<void> {
    await this.takeOverIfBehind();
    this.#isTurns = this.#lock !== undefined;
  }

  release(): void {
    this.#lock?.[Symbol.dispose]();
    this.#lock = undefined;
    this.#isTurns = false;
  }

  /**
   * If another process has written to the session, reads its events and makes the session ours again. Never while another
   * process runs a turn. While our own turn starts or runs, it is ours already.
   */
  takeOverIfBehind(): Promise<void> {
    if (this.#isTurns) return Promise.resolve();
    this.#look ??= this.#lookBehind().finally(() => {
      this.#look = undefined;
    });
    return this.#look;
  }

  async #lookBehind(): Promise<void> {
    const { log, locks } = this.#services;
    const holder = this.#lock === undefined ? locks.holder(this.#lockName) : undefined;
    if (holder !== undefined) throw busy(holder.pid, "Wait for its end, or stop that server.");
    await this.#refuseIfOwnedElsewhere();
    // What this process is writing can be read before it is on the disk: it is nobody else's.
    await this.#writer.flush().catch(() => undefined);
    const head = await log.head(this.#sessionId);
    if (head === undefined) throw new ServiceError("not_found", "The session is no longer in the log.");
    const isCurrent = head.lastSeq === this.#writer.lastSeq && head.epoch === this.#writer.epoch;
    const isOurs = this.#services.ownership?.isOurs(this.#sessionId) ?? true;
    if (isCurrent && isOurs && this.#writer.failure === undefined) return;
    await this.#fold(head.lastSeq);
    await this.#takeOver();
  }

  /** Reads events of another server; the session stays that server's. */
  async follow(): Promise<void> {
    const head = await this.#services.log.head(this.#sessionId);
    if (head !== undefined) await this.#fold(head.lastSeq);
  }

  /** Ends a turn whose process is gone; called right after the log was opened. */
  async recover(): Promise<void> {
    if (this.#state.openTurn === undefined || this.#services.locks.holder(this.#lockName) !== undefined) return;
    if ((await this.#services.ownership?.otherOwner(this.#sessionId)) !== undefined) return;
    await this.#takeOver();
  }

  /** Ends a turn that began in the log but will never end there. */
  closeInterrupted(): Promise<void> {
    const { now, redactor, stages } = this.#services;
    const sessionId = this.#sessionId;
    const commits = () => stages?.recordsOf(sessionId) ?? [];
    return closeInterruptedTurn(this.#state, this.#writer, { sessionId, now, redactor, commits });
  }

  async #fold(untilSeq: number): Promise<void> {
    while (this.#state.lastSeq < untilSeq) {
      const page = await this.#services.log.read(this.#sessionId, this.#state.lastSeq, 1000);
      if (page.length === 0) break;
      // Another caller may have applied events meanwhile.
      for (const event of page) if (event.seq > this.#state.lastSeq) this.#state.apply(event);
    }
  }

  async #refuseIfOwnedElsewhere(): Promise<void> {
    const owner = await this.#services.ownership?.otherOwner(this.#sessionId);
    if (owner === undefined) return;
    throw new ServiceError("failed_precondition", `Another server (${owner}) owns this session.`, {
      hint: "Try again: the request goes to that server.",
    });
  }

  async #takeOver(): Promise<void> {
    this.#writer = this.#newWriter(await this.#services.log.takeOver(this.#sessionId));
    // The process that began the turn is gone, or could not write its end.
    await this.closeInterrupted();
  }

  get #lockName(): string {
    return `session ${this.#sessionId}`;
  }

  #newWriter(epoch: number): SessionWriter {
    return new SessionWriter({
      log: this.#services.log,
      sessionId: this.#sessionId,
      seq: this.#state.lastSeq,
      epoch,
      now: this.#services.now,
      callers: this.#services.callers,
      onAppended: (events: readonly LoggedEvent[]) => {
        for (const event of events) this.#state.apply(event);
      },
    });
  }
}

function busy(pid: number, hint: string): ServiceError {
  return new ServiceError("failed_precondition", `Another server (process ${pid}) runs a turn of this session.`, {
    hint,
  });
}

/** Assigns each session to one of several servers, for as long as that server runs. */
export interface SessionOwnership {
  /** The other running server that owns the session; undefined if it is ours, or its owner is gone. */
  otherOwner(sessionId: string): Promise<string | undefined>;
  /** Whether the newest epoch is ours. */
  isOurs(sessionId: string): boolean;
  /** The exact open request, from its owner; undefined if it is ours or over. */
  exactRequest(sessionId: string, requestId: string): Promise<ClientRequest | undefined>;
}
