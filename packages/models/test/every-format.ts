import { createServer, type ServerResponse } from "node:http";
import type { Model, ModelEvent } from "@gennai/agent/model";
import { listening } from "@gennai/testkit/listening";
import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import { modelWires } from "@gennai/testkit/model-server/model-server";
import type { ModelTiming } from "#answer/provider-model";
import { createAnthropicModel } from "#anthropic";
import { createGeminiModel } from "#gemini";
import { createOpenAIModel } from "#openai";
import { createOpenAICompatibleModel } from "#openai-compatible";
import { testEndpoint } from "./test-endpoint.ts";

export const formats = ["openai-compatible", "openai", "anthropic", "gemini"] as const;
export type Format = (typeof formats)[number];

const models: Readonly<Record<Format, string>> = {
  "openai-compatible": "qwen3",
  openai: "gpt-5",
  anthropic: "claude-sonnet-4-5",
  gemini: "gemini-3-pro-preview",
};

function modelOf(format: Format, baseUrl: string, timing: Partial<ModelTiming>): Model {
  const endpoint = testEndpoint({ baseUrl, model: models[format], apiKey: "key-0123456789abcdef" });
  switch (format) {
    case "openai-compatible":
      return createOpenAICompatibleModel(format, endpoint, timing);
    case "openai":
      return createOpenAIModel(endpoint, timing);
    case "anthropic":
      return createAnthropicModel(endpoint, timing);
    case "gemini":
      return createGeminiModel(endpoint, timing);
  }
}

export const eventStream = { "content-type": "text/event-stream" };

export function framesOf(format: Format, answer: ModelAnswer): readonly string[] {
  return [...modelWires[format].frames(answer)];
}

/** What one answer of a model came to. */
export interface Outcome {
  readonly text: string;
  /** Names and arguments. */
  readonly calls: readonly string[];
  /** Why it ended; undefined: it failed. */
  readonly finish: string | undefined;
  readonly error: { readonly code: string; readonly message: string; readonly retryable: boolean } | undefined;
  /** Milliseconds that were waited before each further request. */
  readonly waits: readonly number[];
  /** What was said of each. */
  readonly said: readonly string[];
  readonly requests: number;
}

/** A server that does this with each request, by its number from 1. */
export async function rawServer(answer: (response: ServerResponse, count: number) => void) {
  let count = 0;
  const server = createServer((request, response) => {
    response.on("error", () => undefined);
    request.resume().on("end", () => answer(response, ++count));
  });
  const { port, ...closing } = await listening(server);
  return {
    port,
    get requests() {
      return count;
    },
    ...closing,
  };
}

const request = {
  system: "Be brief.",
  messages: [{ role: "user", text: "hi" }],
  tools: [{ name: "Read", description: "Reads.", inputSchema: { type: "object", properties: {} } }],
  enableThinking: true,
  maxOutputTokens: 0,
} as const;

const quick = { maxAttempts: 3, firstContactAttempts: 2, silentAttempts: 2, firstDelay: 1, longestDelay: 5 };

/** Asks a model of this format, whose server is on that port of the loopback. `stopWaiting` stops it where it waits. */
export async function askAt(
  format: Format,
  server: { readonly port: number; readonly requests: number; readonly host?: string },
  {
    stopWaiting = false,
    enableThinking = true,
    ...timing
  }: Partial<ModelTiming> & { readonly stopWaiting?: boolean; readonly enableThinking?: boolean } = {},
): Promise<Outcome> {
  const stop = new AbortController();
  const baseUrl = `http://${server.host ?? "127.0.0.1"}:${server.port}${modelWires[format].basePath}`;
  const model = modelOf(format, baseUrl, { ...quick, silence: 20_000, ...timing });
  let text = "";
  let calls: string[] = [];
  let finish: string | undefined;
  const waits: number[] = [];
  const said: string[] = [];
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(40_000)]);
  const take = (event: ModelEvent) => {
    if (event.type === "text-delta") text += event.text;
    if (event.type === "tool-call") calls.push(`${event.name} ${event.argumentsJson}`);
    if (event.type === "finish") finish = event.reason;
    if (event.type === "waiting") {
      waits.push(event.until - Date.now());
      said.push(event.reason);
      if (stopWaiting) stop.abort();
    }
    if (event.type === "restart") [text, calls] = ["", []];
  };
  const done = (error: Outcome["error"]) => ({ text, calls, finish, error, waits, said, requests: server.requests });
  try {
    for await (const event of model.stream({ ...request, enableThinking }, { signal })) take(event);
    return done(undefined);
  } catch (error) {
    if (stop.signal.aborted) return done(undefined);
    const told = error instanceof Error && "code" in error && "retryable" in error ? error : undefined;
    // Anything else is a fault of ours.
    if (told?.name !== "ModelError") throw error;
    return done({ code: String(told.code), message: told.message, retryable: told.retryable === true });
  }
}
