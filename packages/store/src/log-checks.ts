import type { Check, Finding } from "@gennai/machine/finding";
import { type LogAddress, parseLogAddress } from "./nats/log-address.ts";

/** Milliseconds. */
const timeout = 5_000;
/** Milliseconds: a third of the time between a replica's giving up and the others' counting it as gone. */
const harmfulSkew = 1_000;

/**
 * Checks that the log shared by several servers exists and is complete. NATS's client is loaded only for this. Throws
 * `BadLogAddress`.
 *
 * @param text the value of `--log`
 */
export function logChecks(text: string, environment: Readonly<Record<string, string | undefined>>): readonly Check[] {
  const address = parseLogAddress(text, environment);
  return [{ name: "nats", run: (signal) => natsFindings(address, signal) }];
}

async function natsFindings(address: LogAddress, signal: AbortSignal): Promise<readonly Finding[]> {
  const check = "nats";
  const { inspectLog } = await import("./nats/inspect-log.ts");
  const where = address.servers.join(",");
  const log = await inspectLog(address, { timeout, signal }).catch(() => undefined);
  if (log === undefined) {
    const next = ["Start the NATS servers with JetStream, and check --log, GENNAI_NATS_USER and GENNAI_NATS_PASSWORD."];
    return [{ check, state: "fail", text: `No NATS server with JetStream answers at ${where}.`, next }];
  }
  const { serverVersion, copies, current, isThere, replicas } = log;
  if (!isThere) {
    return [{ check, state: "ok", text: `nats-server ${serverVersion} answers; no server has used this log yet` }];
  }
  return [
    copiesFinding(copies, current, serverVersion),
    {
      check: "replicas",
      state: "ok",
      text: replicas.length === 0 ? "none runs" : `${replicas.length} give signs of life`,
    },
    ...replicas.flatMap(({ replicaId, clockAhead }): readonly Finding[] => {
      if (Math.abs(clockAhead) < harmfulSkew) return [];
      const text = `The clock of replica ${replicaId} and that of NATS are ${(Math.abs(clockAhead) / 1_000).toFixed(1)} s apart.`;
      return [{ check: "replicas", state: "warn", text, next: ["Let all of them keep time by NTP."] }];
    }),
  ];
}

function copiesFinding(copies: number, current: number, serverVersion: string): Finding {
  const check = "nats";
  const text = `nats-server ${serverVersion}: ${current} of ${copies} copies of the log are up to date`;
  if (copies < 3) {
    return { check, state: "warn", text, next: ["Run three NATS nodes: with fewer, a lost disk is a lost log."] };
  }
  if (current < copies) return { check, state: "warn", text, next: ["Start the node that is missing."] };
  return { check, state: "ok", text };
}
