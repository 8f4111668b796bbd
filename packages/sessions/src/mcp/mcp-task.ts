import { setTimeout as pause } from "node:timers/promises";
import {
  type Client,
  type ElicitRequest,
  type ElicitResult,
  isSpecType,
  type JSONRPCMessage,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from "@modelcontextprotocol/client";
import * as z from "zod";

const taskSchema = z.looseObject({
  taskId: z.string(),
  status: z.enum(["working", "input_required", "completed", "failed", "cancelled"]),
  statusMessage: z.string().nullish(),
  /** Of 2025-11-25; since then `pollIntervalMs`. */
  pollInterval: z.number().nullish(),
  pollIntervalMs: z.number().nullish(),
  inputRequests: z.record(z.string(), z.unknown()).nullish(),
  result: z.looseObject({}).nullish(),
  error: z.looseObject({ code: z.number(), message: z.string() }).nullish(),
});
const createdSchema = z.looseObject({ task: taskSchema });
const resultSchema = z.looseObject({});

type McpTask = z.infer<typeof taskSchema>;

/** What clients that follow tasks say of themselves since 2026-07-28. */
export const tasksExtension = { "io.modelcontextprotocol/tasks": {} };

/** Where `showTask` puts a task. */
const place = "gennai/task";
/** Milliseconds: for how long a server shall keep what came out, and the bounds of its wish between two looks. */
const kept = 60 * 60 * 1000;
const [soonest, usual, latest] = [20, 1_000, 10_000];
/** Milliseconds between looks that failed. */
const lookAgain = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000];

interface TaskPorts {
  readonly signal: AbortSignal;
  /** Milliseconds for one answer. */
  readonly timeout: number;
  /** Takes what the server says of it, at each look. */
  onState(words: string): void;
  /** Asks the user what the server wants to know. */
  elicit(params: ElicitRequest["params"]): Promise<ElicitResult>;
}

/** The library takes no result of an extension: it gets a complete one that holds the task. */
export function showTask(message: JSONRPCMessage): void {
  if (!("result" in message) || message.result["resultType"] !== "task") return;
  message.result = { resultType: "complete", content: [], [place]: message.result };
}

/** The task in a result, if there is one. Throws zod's error. */
export function taskIn(result: Readonly<Record<string, unknown>>): McpTask | undefined {
  return place in result ? taskSchema.parse(result[place]) : undefined;
}

/** Calls a tool that its server runs only as a task (MCP 2025-11-25, basic/utilities/tasks). @returns what holds the task */
export async function callAsTask(
  client: Client,
  params: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> },
  options: Pick<TaskPorts, "signal" | "timeout">,
): Promise<Record<string, unknown>> {
  const call = { method: "tools/call", params: { ...params, task: { ttl: kept } } };
  return { [place]: (await client.request(call, createdSchema, options)).task };
}

/**
 * Asks how far a task is until it has ended; one that nobody waits for any more is stopped there too.
 * @returns as of any other call
 */
export async function followTask(client: Client, task: McpTask, ports: TaskPorts): Promise<Record<string, unknown>> {
  const { signal, timeout } = ports;
  const named = { taskId: task.taskId };
  const ask = <T>(method: string, schema: z.ZodType<T>, more: object = {}) =>
    client.request({ method, params: { ...named, ...more } }, schema, { signal, timeout });
  const cancel = (): void =>
    void client.request({ method: "tasks/cancel", params: named }, resultSchema, { timeout }).catch(() => undefined);
  /** A look that found nobody is taken again: the work there goes on. */
  const look = async <T>(method: string, schema: z.ZodType<T>): Promise<T> => {
    for (const wait of lookAgain) {
      try {
        return await ask(method, schema);
      } catch (error) {
        if (signal.aborted || !mayPass(error)) throw error;
        await pause(wait, undefined, { signal });
      }
    }
    return ask(method, schema);
  };
  const isModern = client.getProtocolEra() === "modern";
  const answered = new Set<string>();
  try {
    let state = task;
    // Before 2026-07-28, where its result is awaited a server asks what it wants from the user.
    while (state.status === "working" || (isModern && state.status === "input_required")) {
      ports.onState(state.statusMessage ?? state.status);
      const open = Object.entries(state.inputRequests ?? {}).filter(([key]) => !answered.has(key));
      const inputResponses: Record<string, ElicitResult> = {};
      for (const [key, request] of open) {
        if (!isSpecType.ElicitRequest(request)) {
          cancel();
          throw new Error("it wants more than an answer of the user");
        }
        answered.add(key);
        inputResponses[key] = await ports.elicit(request.params);
      }
      if (open.length > 0) await ask("tasks/update", resultSchema, { inputResponses });
      const wait = Math.min(Math.max(state.pollIntervalMs ?? state.pollInterval ?? usual, soonest), latest);
      await pause(wait, undefined, { signal });
      state = await look("tasks/get", taskSchema);
    }
    if (!isModern) return await look("tasks/result", resultSchema);
    if (state.status === "failed" && state.error) throw new ProtocolError(state.error.code, state.error.message);
    if (state.status !== "completed" || !state.result) throw new Error(state.statusMessage ?? `it is ${state.status}`);
    return state.result;
  } catch (error) {
    if (signal.aborted) cancel();
    throw error;
  }
}

/** Nobody answered, or a gateway in between did; what the server itself says stays. */
function mayPass(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status >= 500 || error.status === 429;
  return error instanceof SdkError ? error.code === SdkErrorCode.RequestTimeout : error instanceof TypeError;
}
