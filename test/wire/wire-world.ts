import type { ModelAnswer, ModelRefusal } from "@gennai/testkit/model-server/model-answer";
import {
  type ModelServer,
  modelWires,
  type ReceivedModelRequest,
  startModelServer,
} from "@gennai/testkit/model-server/model-server";
import { startTestServer, type TestServer, type TestServerOptions } from "@gennai/testkit/test-server";
import { expect } from "vitest";
import { stringify } from "yaml";

export const formats = ["openai-compatible", "openai", "anthropic", "gemini"] as const;
export type Format = (typeof formats)[number];

/** One model of each format that thinks. */
const thinkers: Readonly<Record<Format, string>> = {
  "openai-compatible": "deepseek-v4-pro",
  openai: "gpt-5",
  anthropic: "claude-sonnet-4-5",
  gemini: "gemini-3-pro-preview",
};

export interface WireWorld extends AsyncDisposable {
  readonly server: TestServer;
  readonly provider: ModelServer;
}

type Answers =
  | readonly (ModelAnswer | ModelRefusal)[]
  | ((
      count: number,
      request: ReceivedModelRequest,
    ) => ModelAnswer | ModelRefusal | Promise<ModelAnswer | ModelRefusal>);

export type WorldOptions = TestServerOptions & { readonly model?: string; readonly models?: readonly object[] };

/** A whole server whose sessions ask a provider on the loopback, which answers in this order. */
export async function wireWorld(
  format: Format,
  answers: Answers,
  { model = thinkers[format], models, ...options }: WorldOptions = {},
): Promise<WireWorld> {
  const answer =
    typeof answers === "function" ? answers : (count: number) => answers[count - 1] ?? { text: ["(no more)"] };
  const provider = await startModelServer(modelWires[format], answer, models === undefined ? {} : { models });
  const server = await startTestServer({
    ...options,
    server: { environment: { ...process.env, GENNAI_API_KEY: "key-0123456789abcdef" }, ...options.server },
    settings: { backend: format, model, baseUrl: provider.baseUrl, ...options.settings },
  });
  return {
    server,
    provider,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

export function call(id: string, name: string, args: Readonly<Record<string, unknown>>) {
  return { id, name, arguments: args };
}

type Json = Readonly<Record<string, unknown>>;

/** Where each format has its tools, its system text and what was said. */
const places: Readonly<Record<Format, { readonly system: string | undefined; readonly said: string }>> = {
  // The system text is the first message, or the first item of the input.
  "openai-compatible": { system: undefined, said: "messages" },
  openai: { system: undefined, said: "input" },
  anthropic: { system: "system", said: "messages" },
  gemini: { system: "systemInstruction", said: "contents" },
};

/**
 * What a provider caches, in its order, a JSON text for each part: tools, system text, what was said. Without cache marks.
 * Some formats join neighbours of one side into one message, so messages are taken apart.
 */
export function cachedSequence(format: Format, { body }: ReceivedModelRequest): readonly string[] {
  const { system, said } = places[format];
  const messages = list(body[said]).flatMap((message) => {
    const { content, parts, ...rest } = object(message);
    const pieces = Array.isArray(content) ? content : Array.isArray(parts) ? parts : undefined;
    return pieces === undefined ? [message] : pieces.map((piece: unknown) => ({ ...rest, piece }));
  });
  const sequence = [body["tools"], ...(system === undefined ? [] : [body[system]]), ...messages];
  return sequence.map((part) =>
    JSON.stringify(part, (key, value: unknown) => (key === "cache_control" ? undefined : value)),
  );
}

/** Each request begins with the whole of the one before. */
export function expectPrefixes(format: Format, requests: readonly ReceivedModelRequest[]): void {
  const sequences = requests.map((request) => cachedSequence(format, request));
  for (const [index, before] of sequences.slice(0, -1).entries()) {
    expect(sequences[index + 1]?.slice(0, before.length), `request ${index + 2}`).toEqual(before);
  }
}

/** A request as a person reads it: without the tools and the system text, which other tests know. */
export function readable(format: Format, { url, headers, body }: ReceivedModelRequest): string {
  const { system, said } = places[format];
  const shown: Record<string, unknown> = { POST: url };
  if (headers["anthropic-beta"] !== undefined) shown["anthropic-beta"] = headers["anthropic-beta"];
  for (const [key, value] of Object.entries(body)) {
    if (key === "tools") shown[key] = "(left out)";
    else if (key === "prompt_cache_key") shown[key] = "(of the session)";
    else if (key === system) shown[key] = withoutText(value);
    else if (key === said && system === undefined) shown[key] = [withoutText(list(value)[0]), ...list(value).slice(1)];
    else shown[key] = value;
  }
  return stringify(shown, { lineWidth: 120 });
}

/** The system text, with the marks beside it but without its words. */
function withoutText(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) =>
      (key === "text" || key === "content") && typeof inner === "string" ? "(left out)" : inner,
    ),
  );
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
