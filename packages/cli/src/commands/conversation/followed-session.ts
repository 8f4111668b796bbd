import { planScenarioName } from "@gennai/agent/scenarios/parse-scenarios";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { turnOutcome } from "@gennai/client/session/turn-state";
import { SessionView } from "@gennai/client/view/session-view";
import { errorMessage } from "@gennai/protocol/error-message";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { Face } from "./face.ts";

/** Tries after which a server that went away is not waited for any longer. */
const mostTries = 6;

/** A session whose events go into a view and to a face, until it is left or its server is gone. */
export class FollowedSession {
  readonly session: AgentSession;
  readonly view = new SessionView();
  readonly #face: Face;
  /** Called after the face. */
  readonly #seen: (event: InvokeEvent) => void;
  readonly #signal: AbortSignal;
  #following = new AbortController();
  #attached = Promise.withResolvers<void>();
  #isGone = false;
  /** Ids of turns that write a plan. */
  readonly #planTurns = new Set<string>();
  /** Called with each event, and without one when the session is not followed any more. */
  readonly #watchers = new Set<(event: InvokeEvent | undefined) => void>();

  constructor(
    session: AgentSession,
    options: { readonly face: Face; readonly seen: (event: InvokeEvent) => void; readonly signal: AbortSignal },
  ) {
    this.session = session;
    this.#face = options.face;
    this.#seen = options.seen;
    this.#signal = options.signal;
  }

  get isRunning(): boolean {
    return this.view.facts.peek().turn !== undefined;
  }

  /** Resolves when events come, or never will. */
  get attached(): Promise<void> {
    return this.#attached.promise;
  }

  /** Begins, or tries again to reach a server that was given up. */
  begin(): void {
    this.#isGone = false;
    this.#following = new AbortController();
    this.#attached = Promise.withResolvers<void>();
    void this.#follow();
  }

  /** Does nothing while the server can be reached. */
  reconnect(): void {
    if (this.#isGone) this.begin();
  }

  leave(): void {
    this.#following.abort();
  }

  /** Resolves with the first event that comes and is so. Rejects with `Gone` when none comes any more. */
  until(isWanted: (event: InvokeEvent) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const watch = (event: InvokeEvent | undefined): void => {
        if (event !== undefined && !isWanted(event)) return;
        this.#watchers.delete(watch);
        if (event === undefined) reject(new Gone());
        else resolve();
      };
      this.#watchers.add(watch);
    });
  }

  /** Resolves when no turn runs any more. */
  async idle(): Promise<void> {
    while (this.isRunning && !this.#isGone) {
      await this.until((event) => turnOutcome(event) !== undefined).catch(() => undefined);
    }
  }

  async #follow(): Promise<void> {
    const { session, view } = this;
    const face = this.#face;
    const following = this.#following;
    try {
      const events = session.follow({
        afterSeq: view.lastSeq,
        signal: AbortSignal.any([this.#signal, following.signal]),
        maxAttempts: mostTries,
        onConnection: (change) => {
          if (change.state === "connected") this.#attached.resolve();
          face.way(change);
        },
        onProblem: ({ error }) => face.note(`An answer was not taken: ${errorMessage(error)}`),
      });
      for await (const event of events) {
        const added = view.apply(event);
        if (!this.#isEnvelope(event)) face.shown(event, added);
        this.#seen(event);
        for (const watch of [...this.#watchers]) watch(event);
      }
    } catch (error) {
      if (following.signal.aborted || this.#signal.aborted) return;
      this.#isGone = true;
      this.#attached.resolve();
      face.way({ state: "gone", error });
    } finally {
      if (!following.signal.aborted) for (const watch of [...this.#watchers]) watch(undefined);
    }
  }

  /** What a planning turn answers is for the server: a person sees the plan. */
  #isEnvelope({ event, turnId }: InvokeEvent): boolean {
    if (event.case === "userMessage" && event.value.scenario === planScenarioName) this.#planTurns.add(turnId);
    return (event.case === "assistantDelta" || event.case === "final") && this.#planTurns.has(turnId);
  }
}

/** The session is not followed any more. */
export class Gone extends Error {
  override readonly name = "Gone";
}
