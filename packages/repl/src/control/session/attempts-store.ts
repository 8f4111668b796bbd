import { type AttemptsWish, SessionAttempts } from "@gennai/client/attempts";
import type { AgentSession } from "@gennai/client/session/agent-session";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { AttemptSet } from "@gennai/protocol/model/session/attempt";
import type { ReadonlySignal } from "@preact/signals";
import { gathered, PanelStore, type StoreCall } from "../../look/panel-store.ts";
import type { Problem } from "../../look/problem.ts";
import { type AttemptDesk, AttemptWatch, type WatchedAttempt } from "./attempt-watch.ts";
import { ChangeContents } from "./change-contents.ts";

export interface AttemptsStoreOptions {
  readonly session: AgentSession;
  readonly desk: AttemptDesk;
}

interface AttemptsState {
  /** Newest first; undefined before they were loaded. */
  readonly sets: readonly AttemptSet[] | undefined;
  /** Keys of operations that are under way. */
  readonly busy: ReadonlySet<string>;
  readonly problem: Problem | undefined;
}

/** The attempts of a session's workspace: loaded from the server whenever an event reports a change. */
export class AttemptsStore extends PanelStore<AttemptsState> {
  readonly #options: AttemptsStoreOptions;
  readonly #attempts: SessionAttempts;
  /** By the id of the attempt's session. */
  readonly #watches = new Map<string, AttemptWatch>();
  readonly #contents = new Map<string, ChangeContents>();
  /** Never rejects. Calls during a load cause one more load afterwards. */
  readonly load = gathered(async () => {
    await this.guard("Reading the attempts", async (call) => {
      this.set({ sets: await this.#attempts.list(call) });
      this.#watch();
    });
  });

  constructor(options: AttemptsStoreOptions) {
    super({ sets: undefined, busy: new Set(), problem: undefined });
    this.#options = options;
    const { client, sessionId } = options.session;
    this.#attempts = new SessionAttempts(client, sessionId);
  }

  /** What an attempt does at the moment; undefined while it does not work. */
  watched(sessionId: string): ReadonlySignal<WatchedAttempt> | undefined {
    return this.#watches.get(sessionId)?.shown;
  }

  /** Both sides of the files that a set's attempts changed. */
  contents(setId: string): ChangeContents {
    const known = this.#contents.get(setId);
    if (known !== undefined) return known;
    const fresh = new ChangeContents((sha256, options) => this.#attempts.content(setId, sha256, options));
    this.#contents.set(setId, fresh);
    return fresh;
  }

  handle(events: readonly InvokeEvent[]): void {
    if (events.some(({ event }) => event.case === "attemptsChanged")) void this.load();
  }

  /** False if they could not be started; then the problem is shown. */
  start(wish: AttemptsWish): Promise<boolean> {
    return this.#try("start", "Starting attempts", async (call) => {
      await this.#attempts.start(wish, call);
    });
  }

  /** @param number of the attempt; 0: all */
  async stop(setId: string, number: number): Promise<void> {
    await this.#try(keyOf(setId, number), "Stopping", async (call) => {
      await this.#attempts.stop(setId, number, call);
    });
  }

  /** @returns the id of the proposal that the attempt became; undefined if it failed, which is shown */
  async take(setId: string, number: number): Promise<string | undefined> {
    let proposalId: string | undefined;
    await this.#try(keyOf(setId, number), "Taking the attempt", async (call) => {
      proposalId = await this.#attempts.take(setId, number, call);
    });
    return proposalId;
  }

  async forget(setId: string): Promise<void> {
    await this.#try(keyOf(setId, 0), "Forgetting the attempts", (call) => this.#attempts.drop(setId, call));
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    for (const each of [...this.#watches.values(), ...this.#contents.values()]) each[Symbol.dispose]();
  }

  /** Follows only attempts that work: a browser has few connections to a server. */
  #watch(): void {
    const working = (this.state.peek().sets ?? []).flatMap(({ attempts }) =>
      attempts.filter(({ phase, sessionId }) => phase === "working" && sessionId !== ""),
    );
    for (const [sessionId, watch] of this.#watches) {
      if (working.some((attempt) => attempt.sessionId === sessionId)) continue;
      watch[Symbol.dispose]();
      this.#watches.delete(sessionId);
    }
    for (const { number, sessionId } of working) {
      if (!this.#watches.has(sessionId)) {
        this.#watches.set(sessionId, new AttemptWatch({ ...this.#options, sessionId, number }));
      }
    }
  }

  async #try(key: string, action: string, work: (call: StoreCall) => Promise<void>): Promise<boolean> {
    const { busy } = this.state.peek();
    if (busy.has(key)) return false;
    this.set({ busy: new Set([...busy, key]), problem: undefined });
    const isDone = await this.guard(action, work);
    this.set({ busy: new Set([...this.state.peek().busy].filter((other) => other !== key)) });
    await this.load();
    return isDone;
  }
}

/** Key of an operation under way for an attempt, or for a whole set. */
export function keyOf(setId: string, number: number): string {
  return `${setId} ${number}`;
}
