import { timestampMs } from "@bufbuild/protobuf/wkt";
import { BackgroundRunState, type BackgroundRun as Message } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { AgentClient } from "./connection/connection.ts";

/** A command that a session runs in the background: a server, a watcher. */
export interface BackgroundRun {
  /** Unique in the session, e.g. `b1`. */
  readonly id: string;
  readonly command: string;
  readonly isRunning: boolean;
  /** Milliseconds since the epoch; 0: unknown. */
  readonly startedAt: number;
  /** How it ended, e.g. `exit code 1`; empty while it runs. */
  readonly end: string;
  /** Ports of it, and by which port of 127.0.0.1 on the server's machine they are reached. */
  readonly ports: readonly { readonly port: number; readonly localPort: number }[];
}

interface RunMeant {
  readonly sessionId: string;
  readonly runId: string;
}

interface CallOptions {
  readonly signal?: AbortSignal;
}

/** In the order of their starts. */
export async function listBackgroundRuns(
  client: AgentClient,
  sessionId: string,
  options: CallOptions = {},
): Promise<readonly BackgroundRun[]> {
  const { runs } = await client.listBackgroundRuns({ sessionId }, options);
  return runs.map(backgroundRunFromMessage);
}

/** Resolves when it has ended. */
export async function stopBackgroundRun(
  client: AgentClient,
  meant: RunMeant,
  options: CallOptions = {},
): Promise<BackgroundRun> {
  const { run } = await client.stopBackgroundRun(meant, options);
  return backgroundRunFromMessage(run);
}

/** @param ports.localPort any free one for 0. @returns the port of 127.0.0.1 on the server's machine */
export async function openBackgroundPort(
  client: AgentClient,
  meant: RunMeant,
  ports: { readonly port: number; readonly localPort: number },
  options: CallOptions = {},
): Promise<number> {
  const { opened } = await client.openBackgroundPort({ ...meant, ...ports }, options);
  return opened?.localPort ?? 0;
}

/**
 * Output of a run, from the oldest kept text until it has ended. A line in brackets says how much is left out.
 * @param options.follow false: only the present output
 * @returns the run in its final, or present, state
 */
export async function* backgroundOutput(
  client: AgentClient,
  meant: RunMeant,
  { follow, signal }: { readonly follow: boolean; readonly signal: AbortSignal },
): AsyncGenerator<string, BackgroundRun> {
  for (let after = 0n; ; ) {
    const waitMs = follow ? longestWait : 0;
    const read = await client.readBackgroundRun({ ...meant, after, waitMs }, { signal, timeoutMs: 2 * longestWait });
    after = read.end;
    if (read.leftOut > 0n) yield `[${read.leftOut} characters of output left out]\n`;
    if (read.text !== "") yield read.text;
    const run = backgroundRunFromMessage(read.run);
    // The last output may not have been included.
    if (read.text === "" && !(follow && run.isRunning)) return run;
  }
}

/** Milliseconds. */
const longestWait = 25_000;

function backgroundRunFromMessage(message: Message | undefined): BackgroundRun {
  const { id = "", command = "", state, startedAt, end = "", ports = [] } = message ?? {};
  return {
    id,
    command,
    isRunning: state === BackgroundRunState.RUNNING,
    startedAt: startedAt === undefined ? 0 : timestampMs(startedAt),
    end,
    ports: ports.map(({ port, localPort }) => ({ port, localPort })),
  };
}
