import assert from "node:assert/strict";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type CrashWorld, endOf, type SessionFollower } from "./crash-world.ts";

/** Where an activity takes place. */
export interface Scene {
  readonly world: CrashWorld;
  /** In branch mode. */
  readonly worker: SessionFollower;
  /** In proposal mode. */
  readonly proposer: SessionFollower;
  readonly round: number;
}

/** Work that a crash cuts off, and what must hold after it. */
export interface Activity {
  /** Milliseconds. */
  readonly longest: number;
  /** Rejects when the server goes away under it. */
  work(reached: Milestones): Promise<void>;
  check(): Promise<Outcome>;
}

export interface Milestones {
  /** The server has promised the first of it. */
  begun(): void;
  /** The server has told that what the activity is there for has happened. */
  effect(): void;
}

export interface Outcome {
  /** What the kill hit, in a few words. */
  readonly hit: string;
  /** How often what the activity is there for is found in the world afterwards. */
  readonly effects: number;
}

/**
 * A turn that the client starts once, however often it sends the request; confirmed results are still there, and it has one
 * end.
 */
export function startedOnce(options: {
  readonly world: CrashWorld;
  readonly worker: SessionFollower;
  readonly round: number;
  readonly text: string;
}) {
  const { world, worker, round, text } = options;
  const { sessionId } = worker.session;
  const request = { sessionId, userInput: text, clientTurnId: `round-${round}` };
  let told = "";
  return {
    turnId: () => told,
    async work(begun: () => void) {
      told = (await world.client.startTurn(request)).turnId;
      begun();
    },
    /** Resolves once a tool of that name has told its success in this turn; rejects when the turn ended without it. */
    succeeded: (tool: string) =>
      worker.until((events) => {
        if (successes(worker, told, tool) > 0) return true;
        assert.ok(
          events.every((event) => endOf(event, told) === undefined),
          `The turn ended without ${tool}.`,
        );
        return undefined;
      }),
    successes: (tool: string) => successes(worker, told, tool),
    /** Its calls and what became of them, a line each. */
    story: () =>
      worker.events
        .flatMap(({ turnId, seq, event }) => {
          if (turnId !== told) return [];
          if (event.case === "toolCall")
            return [`${seq} call ${event.value.id} ${event.value.argumentsJson.slice(0, 80)}`];
          if (event.case === "toolResult") return [`${seq} result ${event.value.id} ${event.value.error}`];
          return [];
        })
        .join("\n"),
    async check() {
      if (told === "") return "not started";
      const end = await worker.end(told);
      assert.ok(end === InvokeState.COMPLETED || end === InvokeState.INTERRUPTED, `the turn ended ${end}`);
      const again = await world.client.startTurn(request);
      assert.deepEqual([again.turnId, again.alreadyStarted], [told, true]);
      return end === InvokeState.COMPLETED ? "completed" : "interrupted";
    },
  };
}

/** Calls of a tool whose result was told without an error. */
function successes(worker: SessionFollower, wanted: string, tool: string): number {
  if (wanted === "") return 0;
  const calls = new Set<string>();
  let count = 0;
  for (const { turnId, event } of worker.events) {
    if (turnId !== wanted) continue;
    if (event.case === "toolCall" && event.value.name === tool) calls.add(event.value.id);
    if (event.case === "toolResult" && calls.has(event.value.id) && event.value.error === "") count += 1;
  }
  return count;
}
