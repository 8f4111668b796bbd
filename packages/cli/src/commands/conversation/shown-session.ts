import { FollowedSession } from "@gennai/client/agent/followed-session";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { turnOutcome } from "@gennai/client/session/turn-state";
import { errorMessage } from "@gennai/protocol/error-message";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { planScenarioName } from "@gennai/protocol/model/governance/plan";
import type { Face } from "./face.ts";

/** Tries after which a server that went away is not waited for any longer. */
const mostTries = 6;

/** A followed session that a face shows. */
export class ShownSession extends FollowedSession {
  /** Called with each event, and without one when the session is not followed any more. */
  readonly #watchers: Set<(event: InvokeEvent | undefined) => void>;

  /** @param seen called after the face */
  constructor(session: AgentSession, face: Face, seen: (event: InvokeEvent) => void) {
    const watchers = new Set<(event: InvokeEvent | undefined) => void>();
    /** Ids of turns that write a plan: what they answer is for the server, and a person sees the plan. */
    const planTurns = new Set<string>();
    super(session, {
      maxAttempts: mostTries,
      onEvent: (told, added) => {
        const { event, turnId } = told;
        if (event.case === "userMessage" && event.value.scenario === planScenarioName) planTurns.add(turnId);
        const isEnvelope = (event.case === "assistantDelta" || event.case === "final") && planTurns.has(turnId);
        if (!isEnvelope) face.shown(told, added);
        seen(told);
        for (const watch of [...watchers]) watch(told);
      },
      onWay: (way) => {
        face.way(way);
        if (way.state === "gone") for (const watch of [...watchers]) watch(undefined);
      },
      onAnew: () => face.opened(this.view, session.lastSeq),
      onProblem: ({ error }) => face.note(`An answer was not taken: ${errorMessage(error)}`),
    });
    this.#watchers = watchers;
  }

  get isRunning(): boolean {
    return this.view.facts.peek().turn !== undefined;
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
    while (this.isRunning && !this.isGone) {
      await this.until((event) => turnOutcome(event) !== undefined).catch(() => undefined);
    }
  }
}

/** The session is not followed any more. */
export class Gone extends Error {
  override readonly name = "Gone";
}
