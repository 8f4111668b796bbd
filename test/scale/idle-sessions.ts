import { setTimeout as delay } from "node:timers/promises";
import { processorTime, residentMemory } from "../bench/process-usage.ts";
import { Listener } from "../e2e/replicas/listener.ts";
import type { ReplicaWorld } from "../e2e/replicas/replica-world.ts";

/** What a server needs while so many sessions have a stream open and nothing happens. */
export interface IdleCost {
  readonly sessions: number;
  /** Resident memory of the server, MiB. */
  readonly memory: number;
  /** KiB a session more than at the level before. */
  readonly memoryPerSession: number;
  /** Milliseconds of processor time in a second, for all sessions together. */
  readonly processor: number;
  /** Microseconds of processor time in a second, for one session. */
  readonly processorPerSession: number;
  /** Milliseconds from a turn's start in one of them to its end, the others idle: the median of five. */
  readonly turn: number;
}

const silence = 16_000;

/** Opens sessions up to each level, lets each run one turn, leaves all streams open, and looks what the server needs. */
export async function measureIdle(world: ReplicaWorld, levels: readonly number[]): Promise<readonly IdleCost[]> {
  const costs: IdleCost[] = [];
  const empty = { sessions: 0, memory: residentMemory(world.processId(0)) };
  const open: { readonly sessionId: string; readonly listener: Listener }[] = [];
  await using listeners = new AsyncDisposableStack();
  for (const level of levels) {
    const before = costs.at(-1) ?? empty;
    while (open.length < level) {
      const more = Array.from({ length: Math.min(20, level - open.length) }, () => openSession(world, listeners));
      open.push(...(await Promise.all(more)));
    }
    const turns: number[] = [];
    for (let round = 0; round < 5; round++) {
      const session = open[(round * 7919) % open.length];
      if (session !== undefined) turns.push(await runTurn(world, session, `again-${level}-${round}`));
    }
    // Longer than the time between heartbeats, so that each stream has one.
    const spent = processorTime(world.processId(0));
    await delay(silence);
    const processor = (processorTime(world.processId(0)) - spent) / (silence / 1000);
    const memory = residentMemory(world.processId(0));
    const added = level - before.sessions;
    costs.push({
      sessions: level,
      memory: Math.round(memory),
      memoryPerSession: Math.round(((memory - before.memory) / added) * 1024),
      processor: Math.round(processor * 10) / 10,
      processorPerSession: Math.round((processor / level) * 1000),
      turn: Math.round(turns.toSorted((a, b) => a - b)[2] ?? Number.NaN),
    });
  }
  return costs;
}

async function openSession(world: ReplicaWorld, listeners: AsyncDisposableStack) {
  const { sessionId } = await world.client(0).startSession({ interactive: true });
  const listener = listeners.use(new Listener(world, sessionId, { at: 0, replicas: 1 }));
  const session = { sessionId, listener };
  await runTurn(world, session, "first");
  return session;
}

async function runTurn(
  world: ReplicaWorld,
  { sessionId, listener }: { readonly sessionId: string; readonly listener: Listener },
  clientTurnId: string,
): Promise<number> {
  const start = performance.now();
  const { turnId } = await world.client(0).startTurn({ sessionId, userInput: "Go on.", clientTurnId });
  const state = await listener.end(turnId);
  if (state !== "COMPLETED") throw new Error(`The turn ended as ${state}.\n${world.output}`);
  return performance.now() - start;
}
