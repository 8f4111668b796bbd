import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/client";
import * as z from "zod";

const stateSchema = z.looseObject({
  taskId: z.string(),
  status: z.string(),
  statusMessage: z.string().nullish(),
  pollInterval: z.number().nullish(),
});
const createdSchema = z.looseObject({ task: stateSchema });
const resultSchema = z.looseObject({});

/** Milliseconds: for how long a server shall keep what came out, and the bounds of its wish between two looks. */
const kept = 60 * 60 * 1000;
const [soonest, usual, latest] = [20, 1_000, 10_000];

export interface TaskPorts {
  readonly signal: AbortSignal;
  /** Milliseconds for one answer. */
  readonly timeout: number;
  /** Takes what the server says of it, at each look. */
  onState(words: string): void;
}

/**
 * Calls a tool that its server runs only as a task (MCP 2025-11-25, basic/utilities/tasks): the call is answered at once, and the
 * server is asked how far it is. Stopped, it is stopped there too.
 * @returns as of any other call
 */
export async function callAsTask(
  client: Client,
  params: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
  { signal, timeout, onState }: TaskPorts,
): Promise<Record<string, unknown>> {
  const options = { signal, timeout };
  const call = { method: "tools/call", params: { ...params, task: { ttl: kept } } };
  const { task } = await client.request(call, createdSchema, options);
  const named = { taskId: task.taskId };
  try {
    let state = task;
    // Of one that wants something from the user, its result is where the server asks.
    while (state.status === "working") {
      onState(state.statusMessage ?? state.status);
      const wait = Math.min(Math.max(state.pollInterval ?? usual, soonest), latest);
      await pause(wait, undefined, { signal });
      state = await client.request({ method: "tasks/get", params: named }, stateSchema, options);
    }
    return await client.request({ method: "tasks/result", params: named }, resultSchema, options);
  } catch (error) {
    if (signal.aborted)
      await client.request({ method: "tasks/cancel", params: named }, resultSchema, { timeout }).catch(() => undefined);
    throw error;
  }
}
