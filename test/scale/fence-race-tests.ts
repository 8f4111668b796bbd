import { expect, test } from "vitest";
import { NatsCluster } from "../conformance/session-log/nats-cluster.ts";
import { raceFence } from "./fence-race.ts";

/** @param usual rounds, unless GENNAI_RACE_ROUNDS says another number */
export function testFence(usual: number): void {
  const rounds = Number(process.env["GENNAI_RACE_ROUNDS"] ?? usual);
  test(`lets one of two racing writers in, across leader kills (${rounds} rounds)`, async () => {
    await using cluster = await NatsCluster.start(3);
    const race = await raceFence(cluster, { rounds });
    process.stdout.write(`fence race: ${JSON.stringify(race)}\n`);
    expect(race).toMatchObject({ rounds, bothWon: 0, nobodyWon: 0, lost: 0, races: rounds * 30 });
    // A moment without a leader may hide one round from the kills.
    expect(race.leaderKills).toBeGreaterThanOrEqual(Math.ceil(rounds / 2));
  });
}
