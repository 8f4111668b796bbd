import { expect, it } from "vitest";
import { ReplicaWorld } from "../e2e/replicas/replica-world.ts";
import { measureIdle } from "./idle-sessions.ts";

/** `GENNAI_SCALE_IDLE=1,10,100,300,1000 npm test -- test/scale/idle` is the full run. */
const levels = (process.env["GENNAI_SCALE_IDLE"] ?? "40").split(",").map(Number);
const most = Math.max(...levels);

it(`${most} sessions with open streams: the server stays small, and answers`, async () => {
  const script = [{ match: ".", steps: [{ text: { repeat: 20, chunk: "word " } }] }];
  await using world = await ReplicaWorld.start({ replicas: 1, nodes: 0, script });
  const costs = await measureIdle(world, levels);
  process.stdout.write(`idle sessions: ${JSON.stringify(costs)}\n`);
  const last = costs.at(-1);
  // Limits that only a leak or a busy loop exceeds; measured values are in docs/scale.md.
  expect(last?.memoryPerSession).toBeLessThan(4_096);
  expect(last?.processorPerSession).toBeLessThan(20_000);
});
