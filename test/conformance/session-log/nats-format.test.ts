import { type LogAddress, parseLogAddress } from "@gennai/store/nats/log-address";
import { logFormat, logFormatSubject } from "@gennai/store/nats/log-format";
import { openLogStreams } from "@gennai/store/nats/log-streams";
import { type NatsStoreOptions, openNatsStore } from "@gennai/store/nats/open-nats-store";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NatsCluster } from "./nats-cluster.ts";

let cluster: NatsCluster;
beforeAll(async () => {
  cluster = await NatsCluster.start(1);
});
afterAll(async () => cluster[Symbol.asyncDispose]());

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

it("a log of a newer version is refused, and stays as it is", async () => {
  const address = parseLogAddress(`${cluster.address}/newer`);
  await using newer = await openLogStreams(address, quiet);
  const { log, namespace } = newer;
  await log.client.publish(logFormatSubject(namespace), new TextEncoder().encode(String(logFormat + 1)));
  const before = await streamsOf(log.manager);
  await using place = await temporaryDirectory();
  await expect(
    openNatsStore(
      place.path("state"),
      replica(address, () => undefined),
    ),
  ).rejects.toMatchObject({
    code: "newer_format",
    message: expect.stringContaining(
      `has format ${logFormat + 1}, this Gennai reads up to ${logFormat}: update Gennai`,
    ),
  });
  expect(await streamsOf(log.manager)).toEqual(before);
});

it.each(["1", undefined])("a log of format %s has ours once it was opened, by several at once", async (older) => {
  const address = parseLogAddress(`${cluster.address}/older${older ?? "st"}`);
  await using streams = await openLogStreams(address, quiet);
  const { log, namespace } = streams;
  const subject = logFormatSubject(namespace);
  await log.manager.streams.purge(log.stream);
  if (older !== undefined) await log.client.publish(subject, new TextEncoder().encode(older));
  await Promise.all([1, 2, 3].map(async () => (await openLogStreams(address, quiet))[Symbol.asyncDispose]()));
  const message = await log.manager.streams.getMessage(log.stream, { last_by_subj: subject });
  const { state } = await log.manager.streams.info(log.stream);
  expect([message?.string(), state.messages]).toEqual([String(logFormat), older === undefined ? 1 : 2]);
});

it("a replica that runs while a newer version raises the format ends with what to do", async () => {
  const address = parseLogAddress(`${cluster.address}/raised`);
  await using place = await temporaryDirectory();
  const failure = Promise.withResolvers<unknown>();
  await using store = await openNatsStore(place.path("state"), replica(address, failure.resolve));
  const { log, namespace } = store.streams;
  await log.client.publish(logFormatSubject(namespace), new TextEncoder().encode(String(logFormat + 1)));
  await log.client.publish(`${namespace}.sess.s.0`, new TextEncoder().encode('{"kind":"of a newer one"}'));
  const newer = { code: "newer_format", message: expect.stringContaining("update Gennai") };
  expect(await failure.promise).toMatchObject(newer);
  await expect(store.follower.caughtUp()).rejects.toMatchObject(newer);
});

function replica(address: LogAddress, onFailure: (error: unknown) => void): NatsStoreOptions {
  return { address, replicaId: "r", isAlive: async () => false, onWarning: () => undefined, onFailure };
}

/** Name, configuration and number of messages of each stream. */
async function streamsOf(manager: Awaited<ReturnType<typeof openLogStreams>>["log"]["manager"]): Promise<unknown> {
  const found = [];
  for await (const { config, state } of manager.streams.list()) found.push({ config, last: state.last_seq });
  return found;
}
