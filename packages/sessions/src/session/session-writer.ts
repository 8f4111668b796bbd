import type { LoggedEvent, SessionEvent } from "@gennai/agent/events/session-event";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import type { EventDraft, SessionLog } from "@gennai/store/log/session-log";

/** Who makes code run. */
export interface WriterCallers {
  current(): { readonly tenant: string; readonly user: string } | undefined;
}

/**
 * The only writer of a session's log. Text that users watch live is appended at the end of the tick; other events wait briefly
 * for the commit that usually follows, and join it. Waiting deltas of one item are merged.
 */
export class SessionWriter {
  readonly #log: SessionLog;
  readonly #sessionId: string;
  readonly #epoch: number;
  readonly #now: () => number;
  readonly #onAppended: (events: readonly LoggedEvent[]) => void;
  readonly #callers: WriterCallers | undefined;
  #seq: number;
  #queue: EventDraft[] = [];
  #ledger: LedgerEntry[] = [];
  #spentTokens: string[] = [];
  #durable = false;
  #waiters: PromiseWithResolvers<void>[] = [];
  #immediate: NodeJS.Immediate | undefined;
  #timer: NodeJS.Timeout | undefined;
  #appending = false;
  #failure: Error | undefined;

  constructor(options: {
    readonly log: SessionLog;
    readonly sessionId: string;
    readonly seq: number;
    readonly epoch: number;
    readonly now: () => number;
    /** Names the user in ledger records, on a server with several users. */
    readonly callers?: WriterCallers;
    /** Applies the events to the session's state, before any waiting caller continues. */
    readonly onAppended: (events: readonly LoggedEvent[]) => void;
  }) {
    this.#log = options.log;
    this.#sessionId = options.sessionId;
    this.#seq = options.seq;
    this.#epoch = options.epoch;
    this.#now = options.now;
    this.#onAppended = options.onAppended;
    this.#callers = options.callers;
  }

  get lastSeq(): number {
    return this.#seq;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Events waiting to be logged. */
  get queued(): number {
    return this.#queue.length;
  }

  /** Why an append failed: this writer can write nothing more then. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Queues an event; it is in the log after the next `flush` or `commit`, or else some milliseconds later. */
  emit(event: SessionEvent, place: { readonly turnId: string; readonly itemId?: string }): void {
    this.#enqueue({ turnId: place.turnId, itemId: place.itemId ?? "", time: this.#now(), event });
    if (watched.has(event.type)) this.#immediate ??= setImmediate(() => void this.#pump());
    else this.#timer ??= setTimeout(() => void this.#pump(), timeoutMs);
  }

  /** Appends events and ledger entries in one transaction, after everything queued before. */
  commit(
    events: readonly SessionEvent[],
    options: {
      readonly turnId: string;
      readonly ledger?: readonly LedgerEntry[];
      readonly spentTokens?: readonly string[];
      readonly durable: boolean;
    },
  ): Promise<void> {
    for (const event of events) this.#enqueue({ turnId: options.turnId, itemId: "", time: this.#now(), event });
    for (const entry of options.ledger ?? []) this.#ledger.push(this.#withActor(entry));
    if (options.spentTokens !== undefined) this.#spentTokens.push(...options.spentTokens);
    this.#durable ||= options.durable;
    return this.flush();
  }

  /** Resolves when everything queued so far is in the log; rejects if it could not be written. */
  flush(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#queue.length === 0 && this.#ledger.length === 0 && !this.#appending) return Promise.resolve();
    const waiter = Promise.withResolvers<void>();
    this.#waiters.push(waiter);
    void this.#pump();
    return waiter.promise;
  }

  /** The user on whose behalf it happened: in a turn, the one who started it. */
  #withActor(entry: LedgerEntry): LedgerEntry {
    const caller = this.#callers?.current();
    if (caller === undefined || caller.user === "") return entry;
    const { tenant, user } = caller;
    return { ...entry, details: { ...entry.details, actor: { tenant, user } } };
  }

  #enqueue(draft: EventDraft): void {
    const last = this.#queue[this.#queue.length - 1];
    const merged = last === undefined ? undefined : mergeDeltas(last, draft);
    if (merged === undefined) this.#queue.push(draft);
    else this.#queue[this.#queue.length - 1] = merged;
  }

  async #pump(): Promise<void> {
    if (this.#appending) return;
    this.#appending = true;
    try {
      while (
        this.#failure === undefined &&
        (this.#queue.length > 0 || this.#ledger.length > 0 || this.#waiters.length > 0)
      ) {
        await this.#appendQueued();
      }
    } finally {
      this.#appending = false;
    }
  }

  async #appendQueued(): Promise<void> {
    const spent = this.#spentTokens.length === 0 ? {} : { spentTokens: this.#spentTokens };
    const batch = { events: this.#queue, ledger: this.#ledger, ...spent, durable: this.#durable };
    const waiters = this.#waiters;
    this.#queue = [];
    this.#ledger = [];
    this.#spentTokens = [];
    this.#durable = false;
    this.#waiters = [];
    clearImmediate(this.#immediate);
    clearTimeout(this.#timer);
    this.#immediate = undefined;
    this.#timer = undefined;
    try {
      if (batch.events.length > 0 || batch.ledger.length > 0) {
        const events = await this.#log.append(this.#sessionId, batch, { seq: this.#seq, epoch: this.#epoch });
        this.#seq += events.length;
        this.#onAppended(events);
      }
      for (const waiter of waiters) waiter.resolve();
    } catch (error) {
      // A gap must not be followed by more events: the session stops, and waiting callers get the error.
      this.#failure = error instanceof Error ? error : new Error(String(error));
      for (const waiter of [...waiters, ...this.#waiters]) waiter.reject(this.#failure);
      this.#waiters = [];
    }
  }
}

const watched: ReadonlySet<SessionEvent["type"]> = new Set(["text-delta", "thinking-delta", "tool-output-delta"]);
/** Milliseconds that other events wait to be written together: too short to be noticed. */
const timeoutMs = 10;

/** Two consecutive deltas of one item, merged; undefined if they cannot be. */
export function mergeDeltas<Event extends EventDraft>(first: Event, second: Event): Event | undefined {
  if (first.itemId === "" || first.itemId !== second.itemId || first.turnId !== second.turnId) return undefined;
  const [a, b] = [first.event, second.event];
  switch (a.type) {
    case "thinking-delta":
    case "text-delta":
      return b.type === a.type ? { ...second, event: { ...a, text: a.text + b.text } } : undefined;
    case "tool-call-delta":
    case "tool-output-delta":
      return b.type === a.type && b.id === a.id ? { ...second, event: { ...a, text: a.text + b.text } } : undefined;
    default:
      return undefined;
  }
}
