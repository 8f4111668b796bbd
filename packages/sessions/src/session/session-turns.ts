import { randomUUID } from "node:crypto";
import type { TurnEnd } from "@gennai/agent/loop/turn-loop";
import type { Redactor } from "@gennai/governance/redaction";
import { ToolFailure } from "@gennai/governance/tool-error";
import { ServiceError } from "@gennai/machine/service-error";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import { storeTrouble } from "@gennai/store/database/store-trouble";
import type { SessionLog } from "@gennai/store/log/session-log";
import pLimit from "p-limit";
import { endEvents, ServerLeaves } from "./end-events.ts";
import { questionsOf } from "./interrupted-turn.ts";
import type { OwnedLog } from "./owned-log.ts";
import { type PreparedTurn, type TurnPreparation, withAbandonSignal } from "./prepared-turn.ts";
import type { SeenContents } from "./state/seen-contents.ts";
import type { SessionState } from "./state/session-state.ts";

/** Maximum starts of turns that wait for the one before. */
const maxWaitingStarts = 16;
/** Milliseconds that a stop waits for a starting turn, so that its end can be recorded. */
const startTimeoutMs = 1_000;
/** Milliseconds between attempts to write a turn's end that the log refused. */
const endAgainMs = 2_000;

export interface StartedTurn {
  readonly turnId: string;
  /** Subscribe after this event to see the whole turn. */
  readonly afterSeq: number;
}

interface RunningTurn {
  readonly turnId: string;
  readonly abort: AbortController;
  /** Never rejects. */
  readonly ended: Promise<void>;
}

export interface TurnServices {
  /** Dispose what it gives when the turn has ended. */
  readonly admission: { turn(user: string): Disposable };
  readonly observer: {
    turn(
      turn: { readonly sessionId: string; readonly turnId: string; readonly settings: SessionSettings },
      run: () => Promise<TurnEnd>,
    ): Promise<TurnEnd>;
  };
  readonly redactor: Redactor;
  readonly log: SessionLog;
  /** Gets unexpected errors in full; clients get none of their text. */
  onUnexpectedError(error: unknown): void;
}

/** What its turns need of a session. */
interface TurnsSession {
  readonly id: string;
  readonly user: string;
  readonly state: SessionState;
  readonly settings: SessionSettings;
  readonly seen: Pick<SeenContents, "store">;
  readonly services: TurnServices;
  catchUp(): Promise<void>;
  refuseWhileRunning(what: string): void;
}

/** The turns of one session: one at a time, each can be stopped, and each ends in the log. */
export class SessionTurns {
  readonly #session: TurnsSession;
  readonly #log: OwnedLog;
  #running: RunningTurn | undefined;
  /** One start at a time, so that two clients cannot both find the session idle. */
  readonly #starts = pLimit(1);
  #waitingStarts = 0;
  /** By `clientTurnId`: a repeated request waits for the same start, and takes no additional place. */
  readonly #startsUnderWay = new Map<string, Promise<StartedTurn & { readonly alreadyStarted: boolean }>>();
  /** Aborted to abandon the starts that are under way or waiting; later ones get a new controller. */
  #giveUpStarts = new AbortController();
  #signal: AbortSignal | undefined;

  constructor(session: TurnsSession, log: OwnedLog) {
    this.#session = session;
    this.#log = log;
  }

  get runningTurnId(): string | undefined {
    return this.#running?.turnId;
  }

  /** Aborts when the starting or running turn is stopped; undefined if there is none. */
  get signal(): AbortSignal | undefined {
    return this.#signal;
  }

  /** A turn runs or is about to start. */
  get isBusy(): boolean {
    return this.#running !== undefined || this.#waitingStarts > 0;
  }

  /** True while a turn is ended because the server shuts down. */
  get isLeaving(): boolean {
    return this.#signal?.reason instanceof ServerLeaves;
  }

  /** Starts a turn, or finds the one with the same `clientTurnId`. Resolves when its start is durable. */
  async startOnce(
    clientTurnId: string,
    prepare: TurnPreparation,
  ): Promise<StartedTurn & { readonly alreadyStarted: boolean }> {
    const under = this.#startsUnderWay.get(clientTurnId);
    if (under !== undefined) return { ...(await under), alreadyStarted: true };
    const starting = this.#inTurn(async (giveUp) => {
      const known = this.#session.state.turnByClientId.get(clientTurnId);
      if (known !== undefined) return { turnId: known.turnId, afterSeq: known.afterSeq, alreadyStarted: true };
      const { turnId, afterSeq } = await this.#start(prepare, giveUp);
      return { turnId, afterSeq, alreadyStarted: false };
    });
    if (clientTurnId === "") return starting;
    this.#startsUnderWay.set(clientTurnId, starting);
    try {
      return await starting;
    } finally {
      this.#startsUnderWay.delete(clientTurnId);
    }
  }

  /** Starts a turn without a prompt, e.g. the run of a plan. Resolves when the start is durable; `ended` never rejects. */
  async start(prepare: TurnPreparation): Promise<StartedTurn & { readonly ended: Promise<void> }> {
    return this.#inTurn((giveUp) => this.#start(prepare, giveUp));
  }

  /** Does something instead of a turn: earlier starts come first, later ones wait. Throws `ServiceError` while a turn runs. */
  async instead<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
    return this.#starts(() => {
      this.#session.refuseWhileRunning(what);
      return work();
    });
  }

  /**
   * Stops the running turn; resolves when it has ended. Undefined if none ran, or not the given one. Without a given turn,
   * starts under way that do not complete in time are abandoned.
   */
  async cancel(reason: string, turnId?: string): Promise<string | undefined> {
    // Otherwise a starting turn would escape; turns requested later are not stopped.
    const running = await (turnId === undefined ? this.#endOfStarts() : this.#runningAfterStarts());
    if (running === undefined || (turnId !== undefined && turnId !== running.turnId)) return undefined;
    return stop(running, new DOMException(reason === "" ? "Stopped by the user." : reason, "AbortError"));
  }

  /** The same for a shutdown: the turn was not stopped by a user, who can continue it, as after a kill. */
  async leave(): Promise<string | undefined> {
    const running = await this.#endOfStarts();
    if (running === undefined) return undefined;
    const { state } = this.#session;
    const leaves = new ServerLeaves(questionsOf(state));
    // The run of a plan itself says how to continue.
    const isPrompts = state.turns.get(running.turnId)?.prompt !== undefined;
    return stop(running, isPrompts ? leaves : new DOMException(leaves.message, "AbortError"));
  }

  async #endOfStarts(): Promise<RunningTurn | undefined> {
    const giveUp = this.#giveUpStarts;
    this.#giveUpStarts = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), startTimeoutMs);
    const running = await this.#runningAfterStarts();
    clearTimeout(timer);
    return running;
  }

  /** The turn that runs once the starts requested so far have completed. */
  #runningAfterStarts(): Promise<RunningTurn | undefined> {
    return this.#starts(() => this.#running);
  }

  /** One start after the other; a limited number may wait. */
  async #inTurn<Result>(start: (giveUp: AbortSignal) => Promise<Result>): Promise<Result> {
    if (this.#waitingStarts >= maxWaitingStarts) {
      throw new ServiceError("resource_exhausted", "Too many turns wait for their start in this session.", {
        reason: "too_many_starts",
        retryAfterMs: 1_000,
      });
    }
    this.#waitingStarts += 1;
    const { signal } = this.#giveUpStarts;
    return this.#starts(async () => {
      try {
        return await start(signal);
      } finally {
        this.#waitingStarts -= 1;
      }
    });
  }

  async #start(
    prepare: TurnPreparation,
    giveUp: AbortSignal,
  ): Promise<StartedTurn & { readonly ended: Promise<void> }> {
    const { id, user, state, services } = this.#session;
    if (this.#running !== undefined) {
      throw new ServiceError("failed_precondition", "A turn is running in this session.", {
        hint: "Wait for its end, or stop it.",
      });
    }
    using held = new DisposableStack();
    held.use(services.admission.turn(user));
    await this.#log.acquire();
    held.defer(() => this.#log.release());
    const abort = new AbortController();
    const turnId = randomUUID();
    this.#signal = abort.signal;
    held.defer(() => {
      this.#signal = undefined;
    });
    const ready = async (): Promise<PreparedTurn> => {
      await this.#log.readyForTurn();
      return prepare(turnId, abort.signal);
    };
    const turn = await withAbandonSignal(ready, { giveUp, abort });
    held.use(turn.gate);
    const hadTitle = state.title !== "";
    await this.#log.writer.commit(turn.openingEvents, { turnId, ...turn.openingRecords, durable: true });
    if (!hadTitle && state.title !== "") {
      // The turn has begun in the log, so nothing may prevent it from running to its end.
      await services.log.setTitle(id, state.title).catch((error: unknown) => services.onUnexpectedError(error));
    }
    const untilEnd = held.move();
    const ended = this.#runToEnd(turn, turnId, abort.signal).finally(() => {
      this.#running = undefined;
      untilEnd.dispose();
    });
    this.#running = { turnId, abort, ended };
    // Other events may have been logged meanwhile: the log says where the turn begins.
    const afterSeq = state.turns.get(turnId)?.afterSeq ?? this.#log.writer.lastSeq;
    return { turnId, afterSeq, ended };
  }

  async #runToEnd(turn: PreparedTurn, turnId: string, signal: AbortSignal): Promise<void> {
    const { id: sessionId, settings, seen, services, state } = this.#session;
    let end: TurnEnd;
    try {
      end = await services.observer.turn({ sessionId, turnId, settings }, () => turn.run());
    } catch (error) {
      end = signal.aborted ? { type: "cancelled" } : this.#failed(error);
    }
    await turn.gate?.settle();
    await seen.store();
    const events = await endEvents(end, state.turns.get(turnId) ?? {}, { signal, redactor: services.redactor });
    await this.#log.writer.commit(events, { turnId, durable: true }).catch(() => this.#endLater());
  }

  /**
   * The log refused the turn's end: as soon as it accepts writes, the turn is recorded as interrupted, so that clients learn
   * it. If this server ends first, the next one that opens the session does it.
   */
  #endLater(): void {
    const again = async (): Promise<void> => {
      try {
        await this.#session.catchUp();
      } catch (error) {
        // Any other error means that another server has the session.
        if (storeTrouble(error) !== undefined) this.#endLater();
      }
    };
    setTimeout(() => void again(), endAgainMs).unref();
  }

  /** The end of a turn that failed: the files that steer the agent may be unreachable; anything else is a bug. */
  #failed(error: unknown): TurnEnd {
    if (error instanceof ToolFailure) {
      const { code, message, hint, retryable } = error;
      return { type: "failed", code, message, retryable, ...(hint === undefined ? {} : { hint }) };
    }
    this.#session.services.onUnexpectedError(error);
    return {
      type: "failed",
      code: "internal",
      message: "The turn failed unexpectedly; the server's log says why.",
      retryable: false,
    };
  }
}

/** Resolves with the turn's id when it has ended. */
async function stop({ abort, ended, turnId }: RunningTurn, reason: DOMException): Promise<string> {
  abort.abort(reason);
  await ended;
  return turnId;
}
