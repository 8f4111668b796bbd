import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "@gennai/protocol/error-message";
import { DiscardPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { type ObjectStore, Objm } from "@nats-io/obj";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { StoreError } from "../database/store-error.ts";
import type { StreamAccess } from "./create-once.ts";
import { connectionOptions, type LogAddress } from "./log-address.ts";
import { agreeOnFormat, readLogFormat, refuseNewerLog } from "./log-format.ts";

/** A connection to NATS and what a log keeps there. */
export interface LogStreams extends AsyncDisposable {
  readonly connection: NatsConnection;
  readonly namespace: string;
  /** Every session's batches, spent tokens and controls, in one order. */
  readonly log: StreamAccess;
  /** The last sign of life of each replica; removed `replicaLifetime` later. */
  readonly replicas: StreamAccess;
  readonly objects: ObjectStore;
}

/** Milliseconds after its last sign of life at which a replica counts as gone. More than NATS needs to elect leaders. */
export const replicaLifetime = 15_000;

const startTimeoutMs = 30_000;
/** Nodes that hold every message; a majority must answer. */
const copies = 3;

/** Connects, and makes what is not there yet. Rejects with `StoreError` `unavailable`. */
export async function openLogStreams(
  address: LogAddress,
  options: { readonly name: string; readonly onWarning: (text: string) => void },
): Promise<LogStreams> {
  const connection = await connected(address, options.name);
  try {
    const clustered = connection.info?.cluster !== undefined && connection.info.cluster !== "";
    if (!clustered) {
      options.onWarning("The log's NATS server is alone: when its disk is lost, so is the log. Three nodes keep it.");
    }
    const { namespace } = address;
    const replicas = clustered ? copies : 1;
    const manager = await patiently(() => jetstreamManager(connection, { timeout: 5_000 }));
    const client = jetstream(connection, { timeout: 5_000 });
    const shape = { num_replicas: replicas, storage: StorageType.File, retention: RetentionPolicy.Limits };
    const logStream = logStreamName(namespace);
    const replicaStream = replicaStreamName(namespace);
    refuseNewerLog(namespace, await patiently(() => readLogFormat(manager, logStream, namespace)));
    await patiently(() =>
      ensureStream(manager, {
        ...shape,
        name: logStream,
        subjects: [`${namespace}.sess.>`, `${namespace}.token.>`, `${namespace}.ctl.>`],
        // A full stream refuses new messages; it deletes no old ones.
        discard: DiscardPolicy.New,
      }),
    );
    await patiently(() => agreeOnFormat({ stream: logStream, client, manager }, namespace));
    await patiently(() =>
      ensureStream(manager, {
        ...shape,
        name: replicaStream,
        subjects: [replicaSubject(namespace, "*")],
        max_msgs_per_subject: 1,
        max_age: replicaLifetime * 1_000_000,
        duplicate_window: 1_000_000_000,
      }),
    );
    const objects = await patiently(() =>
      new Objm(client).create(`${namespace}_blobs`, { replicas, storage: StorageType.File }),
    );
    return {
      connection,
      namespace,
      log: { stream: logStream, client, manager },
      replicas: { stream: replicaStream, client, manager },
      objects,
      [Symbol.asyncDispose]: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function connected(address: LogAddress, name: string): Promise<NatsConnection> {
  return patiently(() =>
    connect({
      ...connectionOptions(address),
      name,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
      reconnectJitter: 100,
      pingInterval: 2_000,
      maxPingOut: 2,
      timeout: 5_000,
    }),
  );
}

async function ensureStream(
  manager: StreamAccess["manager"],
  config: Parameters<StreamAccess["manager"]["streams"]["add"]>[0],
): Promise<void> {
  try {
    await manager.streams.info(config.name);
  } catch {
    await manager.streams.add(config);
  }
}

/** A cluster that has just started, or lost its leader, needs some seconds. Rejects with `StoreError`. */
export async function patiently<Value>(work: () => Promise<Value>): Promise<Value> {
  const deadline = performance.now() + startTimeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreError && error.code !== "unavailable") throw error;
      if (performance.now() > deadline) {
        const text = errorMessage(error);
        throw new StoreError(
          "unavailable",
          `The NATS servers of --log do not give a log with JetStream: ${text}. Start them, all three of a cluster.`,
          { cause: error },
        );
      }
      await delay(300);
    }
  }
}

/** What a log is called in NATS: all of it begins with its namespace. */
export function logStreamName(namespace: string): string {
  return `${namespace}_log`;
}

export function replicaStreamName(namespace: string): string {
  return `${namespace}_replicas`;
}

/** Subject of a replica's signs of life; `*` for all replicas. */
export function replicaSubject(namespace: string, replicaId: string): string {
  return `${namespace}.replica.${replicaId}`;
}

/** The replica whose sign of life it is. */
export function replicaOfSubject(subject: string): string {
  return subject.slice(subject.lastIndexOf(".") + 1);
}
