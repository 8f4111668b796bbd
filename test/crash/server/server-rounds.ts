import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type CrashOptions, randomNumbers } from "../crash-options.ts";
import { EffectCounts } from "../effect-counts.ts";
import type { Activity, Scene } from "./activity.ts";
import { CrashWorld, SessionFollower } from "./crash-world.ts";
import { applyingProposal, proposingTurns, rejectingProposal, smallText } from "./proposing.ts";
import { asking, editing, runningPlan, workingTurns } from "./working.ts";

/** After so many, a store of its own begins: what is checked after each kill grows with it. */
const roundsOfOneWorld = 20;

const activities: readonly ((scene: Scene) => Activity)[] = [
  editing,
  asking,
  rejectingProposal,
  applyingProposal,
  runningPlan,
];
/** With fewer, not every activity has its turn. */
export const fewestServerRounds = activities.length;

/** One kill: under which activity, and not before the activity's effect was told, or at any moment of it. */
interface Kill {
  readonly start: (scene: Scene) => Activity;
  readonly afterEffect: boolean;
}

/**
 * Kills a server in the middle of turns, proposals, questions and runs of plans, and checks what the next one finds. Fails
 * as well when an activity had its effect less often than it was left alone until then.
 * @param options.rounds at least `fewestServerRounds`
 */
export async function serverRounds(options: CrashOptions): Promise<void> {
  const { rounds, seed } = options;
  if (rounds < fewestServerRounds) throw new RangeError(`At least ${fewestServerRounds} rounds try each activity.`);
  const random = randomNumbers(seed);
  const kills = killsOf(rounds, random);
  const effects = new EffectCounts();
  for (const { start, afterEffect } of kills) if (afterEffect) effects.want(start.name);
  for (let first = 0; first < rounds; first += roundsOfOneWorld) {
    await using world = await CrashWorld.open([...workingTurns, ...proposingTurns], { "small.txt": smallText });
    await roundsOf(world, { ...options, first, random, kills, effects });
    await world.end();
  }
  effects.expectAll();
}

/**
 * Each activity as often as the others, half of the kills after its effect, in the order that the seed gives; which activities
 * are killed after their effect changes from one turn of all to the next.
 */
function killsOf(rounds: number, random: () => number): readonly Kill[] {
  const kills: Kill[] = [];
  const first = random() < 0.5 ? 0 : 1;
  for (let turn = first; kills.length < rounds; turn += 1) {
    const order = activities.map((start, index) => ({ start, afterEffect: (turn + index) % 2 === 0, place: random() }));
    kills.push(...order.toSorted((one, other) => one.place - other.place));
  }
  return kills.slice(0, rounds);
}

/** Those of one world, with its two clients. */
async function roundsOf(
  world: CrashWorld,
  options: CrashOptions & {
    readonly first: number;
    readonly random: () => number;
    readonly kills: readonly Kill[];
    readonly effects: EffectCounts;
  },
): Promise<void> {
  const { first, rounds, seed, random, kills, effects, onRound } = options;
  const confirm = async () => ({ answer: "yes", scope: "once" }) as const;
  await using worker = await SessionFollower.start(world, "branch", { confirm });
  await using proposer = await SessionFollower.start(world, "proposal", { confirm });
  for (let round = first; round < Math.min(rounds, first + roundsOfOneWorld); round += 1) {
    const kill = kills[round];
    assert.ok(kill);
    const activity = kill.start({ world, worker, proposer, round });
    const wait = random() * activity.longest;
    let hit: string;
    try {
      const { ended } = await workUntil(activity, { afterEffect: kill.afterEffect, whileItBegins: random() < 0.2 });
      await delay(wait);
      await world.crash();
      await ended;
      const outcome = await activity.check();
      hit = outcome.hit;
      effects.add(kill.start.name, outcome.effects);
      await world.expectWholeFiles();
      await world.expectSoundLedger();
    } catch (cause) {
      throw new Error(`Round ${round} of seed ${seed}, ${kill.start.name}, killed after ${Math.round(wait)} ms`, {
        cause,
      });
    }
    onRound?.(round, hit);
  }
  // One that is left alone ends as it should.
  const { sessionId } = worker.session;
  const last = await world.client.startTurn({ sessionId, userInput: "ask", clientTurnId: `last-${first}` });
  assert.equal(await worker.end(last.turnId), InvokeState.COMPLETED);
  await worker.expectGapless(world);
  await proposer.expectGapless(world);
}

/** Resolves when the kill may come, with the work that it cuts off. Rejects when the effect that was wanted did not come. */
async function workUntil(
  activity: Activity,
  { afterEffect, whileItBegins }: { readonly afterEffect: boolean; readonly whileItBegins: boolean },
): Promise<{ readonly ended: Promise<void> }> {
  const begun = Promise.withResolvers<void>();
  const effect = Promise.withResolvers<void>();
  const working = activity.work({ begun: begun.resolve, effect: effect.resolve });
  // After a kill it may fail; before one it must not.
  const ended = working.catch(() => undefined);
  if (afterEffect) {
    await Promise.race([effect.promise, working.then(() => assert.fail("It ended without its effect."))]);
  } else if (!whileItBegins) {
    // Some are killed while they begin, however long that takes on this machine.
    await Promise.race([begun.promise, working]);
  }
  return { ended };
}
