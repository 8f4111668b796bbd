import { expect, it } from "vitest";
import { NatsCluster } from "../conformance/session-log/nats-cluster.ts";
import { measureLog } from "./log-rate.ts";

/** `GENNAI_SCALE_BATCHES=20000 npm test -- test/scale/log-rate` is the full run. */
const batches = Number(process.env["GENNAI_SCALE_BATCHES"] ?? "1000");

it(`${batches} batches of 50 sessions go into the log, and into a replica that starts later`, async () => {
  await using cluster = await NatsCluster.start(3);
  const rate = await measureLog(cluster, { sessions: 50, batches });
  process.stdout.write(`log: ${JSON.stringify(rate)}\n`);
  expect(Math.min(rate.appendsPerSecond, rate.copiedPerSecond)).toBeGreaterThan(10);
});
