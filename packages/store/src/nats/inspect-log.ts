import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { connectionOptions, type LogAddress } from "./log-address.ts";
import { logStreamName, replicaOfSubject, replicaStreamName, replicaSubject } from "./log-streams.ts";

/** The present state of a shared log. */
export interface LogInspection {
  readonly serverVersion: string;
  /** Nodes of the cluster that the log's stream has copies on, and how many of them are up to date; 1 and 1 for a lone node. */
  readonly copies: number;
  readonly current: number;
  /** False if no server has used this log yet. */
  readonly isThere: boolean;
  readonly replicas: readonly {
    readonly replicaId: string;
    /** Milliseconds by which its clock is ahead of that of the NATS node that received its sign of life; negative: behind. */
    readonly clockAhead: number;
  }[];
}

/** Looks, and changes nothing. Rejects when no server of the address answers within `timeout` milliseconds. */
export async function inspectLog(
  address: LogAddress,
  options: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<LogInspection> {
  const { timeout, signal } = options;
  const connection = await connect({
    ...connectionOptions(address),
    name: "gennai doctor",
    timeout,
    reconnect: false,
    maxReconnectAttempts: 0,
  });
  const onAbort = (): void => void connection.close();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const manager = await jetstreamManager(connection, { timeout });
    const serverVersion = connection.info?.version ?? "";
    const info = await manager.streams.info(logStreamName(address.namespace)).catch(() => undefined);
    if (info === undefined) return { serverVersion, copies: 0, current: 0, isThere: false, replicas: [] };
    const others = info.cluster?.replicas ?? [];
    const stream = replicaStreamName(address.namespace);
    const { state } = await manager.streams.info(stream, { subjects_filter: replicaSubject(address.namespace, "*") });
    const replicas = await Promise.all(
      Object.keys(state.subjects ?? {}).map(async (subject) => {
        const sign = await manager.streams.getMessage(stream, { last_by_subj: subject });
        // A replica that left says so with an empty sign.
        if (sign === null || sign.data.length === 0) return [];
        const clockAhead = Number(new TextDecoder().decode(sign.data)) - sign.time.getTime();
        return [{ replicaId: replicaOfSubject(subject), clockAhead }];
      }),
    );
    return {
      serverVersion,
      isThere: true,
      copies: others.length + 1,
      current: others.filter(({ current }) => current).length + 1,
      replicas: replicas.flat(),
    };
  } finally {
    signal.removeEventListener("abort", onAbort);
    await connection.close();
  }
}
