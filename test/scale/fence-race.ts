import { setTimeout as delay } from "node:timers/promises";
import { createOnce, type StreamAccess } from "@gennai/store/nats/create-once";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { NatsCluster } from "../conformance/session-log/nats-cluster.ts";

export interface FenceRace {
  /** In each round the leader is killed while the races are on. */
  readonly rounds: number;
  readonly leaderKills: number;
  /** Subjects for which two writers competed. */
  readonly races: number;
  /** Races in which two writers believed that theirs was the message. Must be 0. */
  readonly bothWon: number;
  /** Races in which each writer was told that the other's message was there. Must be 0. */
  readonly nobodyWon: number;
  /** Races whose winner's message is not where it was acknowledged, at the end. Must be 0. */
  readonly lost: number;
  /** Races in which the loser's message was stored later, though it had been refused: readers pass over it. */
  readonly secondMessages: number;
  /** What happened to those. */
  readonly stories: readonly string[];
  /** Rounds in which the stream gave a place again that an acknowledged message had: how a loss shows at once. */
  readonly placesReused: number;
  /** Milliseconds. */
  readonly slowestRound: number;
}

const width = 30;

/** Two writers on two connections create the same subjects at once, round after round, while the stream's leader is killed. */
export async function raceFence(cluster: NatsCluster, options: { readonly rounds: number }): Promise<FenceRace> {
  const stream = "race";
  const racers = await Promise.all([0, 1].map((index) => openAccess(cluster, stream, index)));
  const [first] = racers;
  if (first === undefined) throw new TypeError("There are no racers.");
  await first.access.manager.streams.add({ name: stream, subjects: ["race.>"], num_replicas: cluster.size });
  const winners: { readonly subject: string; readonly id: string; readonly position: number }[] = [];
  let [leaderKills, bothWon, nobodyWon, slowestRound, placesReused, highest] = [0, 0, 0, 0, 0, 0];
  for (let round = 0; round < options.rounds; round++) {
    const start = performance.now();
    const leader = await cluster.leaderOf(stream);
    const racing = Promise.all(
      Array.from({ length: width }, async (_, lane) => {
        // Spread around the kill: before, in the middle and after it.
        await delay(lane * 3);
        const subject = `race.${round}.${lane}`;
        const ends = await Promise.all(
          racers.map(({ access }, index) =>
            createOnce(access, subject, { id: `${subject}-${index}`, payload: new Uint8Array(200) }),
          ),
        );
        const won = ends.flatMap((end, index) => (end.type === "created" ? [index] : []));
        if (won.length > 1) bothWon++;
        if (won.length === 0) nobodyWon++;
        const position = Math.max(...ends.map((end) => (end.type === "created" ? end.position : 0)));
        winners.push({ subject, id: `${subject}-${won[0]}`, position });
      }),
    );
    await delay(Math.random() * width * 3);
    if (leader !== -1) {
      await cluster.killNode(leader);
      leaderKills++;
      await delay(300);
      await cluster.startNode(leader);
    }
    await racing;
    const places = winners.slice(-width).map(({ position }) => position);
    if (Math.min(...places) <= highest || new Set(places).size < places.length) placesReused++;
    highest = Math.max(highest, ...places);
    slowestRound = Math.max(slowestRound, performance.now() - start);
  }
  const stories: string[] = [];
  let [lost, secondMessages] = [0, 0];
  for (const { subject, id, position } of winners) {
    const last = await messageOf(first.access, { last_by_subj: subject });
    if (last?.id === id && last.seq === position) continue;
    const there = await messageOf(first.access, { seq: position });
    if (there?.id === id) secondMessages++;
    else lost++;
    stories.push(`${id} at ${position}: there is ${there?.id}, the last is ${last?.id} at ${last?.seq}`);
  }
  for (const { connection } of racers) await connection.close();
  const races = winners.length;
  return {
    rounds: options.rounds,
    leaderKills,
    races,
    bothWon,
    nobodyWon,
    lost,
    secondMessages,
    stories,
    placesReused,
    slowestRound: Math.round(slowestRound),
  };
}

async function openAccess(cluster: NatsCluster, stream: string, index: number) {
  // Each starts at a node of its own and goes to the others when that one dies.
  const ports = Array.from({ length: cluster.size }, (_, at) => cluster.port((index + at) % cluster.size));
  const connection = await connect({
    servers: ports.map((port) => `127.0.0.1:${port}`),
    noRandomize: true,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100,
  });
  const access: StreamAccess = { stream, client: jetstream(connection), manager: await jetstreamManager(connection) };
  return { connection, access };
}

async function messageOf(
  { manager, stream }: StreamAccess,
  query: { readonly seq: number } | { readonly last_by_subj: string },
): Promise<{ readonly id: string; readonly seq: number } | undefined> {
  for (let attempt = 0; ; attempt++) {
    try {
      const message = await manager.streams.getMessage(stream, query);
      return message === null ? undefined : { id: message.header.get("Nats-Msg-Id"), seq: message.seq };
    } catch (error) {
      if (attempt === 50) throw error;
      await delay(200);
    }
  }
}
