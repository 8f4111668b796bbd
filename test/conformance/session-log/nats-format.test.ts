import { parseLogAddress } from "@gennai/store/nats/log-address";
import { logFormat, logFormatSubject } from "@gennai/store/nats/log-format";
import { openLogStreams } from "@gennai/store/nats/log-streams";
import { openNatsStore } from "@gennai/store/nats/open-nats-store";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NatsCluster } from "./nats-cluster.ts";

let cluster: NatsCluster;
beforeAll(async () => {
  cluster = await NatsCluster.start(1);
}, 60_000);
afterAll(async () => cluster[Symbol.asyncDispose](), 60_000);

const quiet = { name: "test", onWarning: () => undefined };

it("a new log says its format, and opens again", async () => {
  const address = parseLogAddress(cluster.address);
  for (const round of [1, 2]) {
    await using streams = await openLogStreams(address, quiet);
    const { log, namespace } = streams;
    const message = await log.manager.streams.getMessage(log.stream, { last_by_subj: logFormatSubject(namespace) });
    expect([round, message?.string(), message?.seq]).toEqual([round, String(logFormat), 1]);
  }
});

it("a log of a newer version is refused, and stays as it is", { timeout: 60_000 }, async () => {
  const address = parseLogAddress(`${cluster.address}/newer`);
  await using newer = await openLogStreams(address, quiet);
  const { log, namespace } = newer;
  await log.client.publish(logFormatSubject(namespace), new TextEncoder().encode(String(logFormat + 1)));
  const before = await streamsOf(log.manager);
  await using place = await temporaryDirectory();
  await expect(
    openNatsStore(place.path("state"), {
      address,
      replicaId: "r",
      isAlive: async () => false,
      onWarning: () => undefined,
      onFailure: () => undefined,
    }),
  ).rejects.toMatchObject({
    code: "newer_format",
    message: expect.stringContaining("has format 2, this Gennai reads up to 1"),
  });
  expect(await streamsOf(log.manager)).toEqual(before);
});

/** Name, configuration and number of messages of each stream. */
async function streamsOf(manager: Awaited<ReturnType<typeof openLogStreams>>["log"]["manager"]): Promise<unknown> {
  const found = [];
  for await (const { config, state } of manager.streams.list()) found.push({ config, last: state.last_seq });
  return found;
}
