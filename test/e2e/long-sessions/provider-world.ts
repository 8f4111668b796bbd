import type { ModelAnswer, ModelRefusal } from "@gennai/testkit/model-server/model-answer";
import {
  type ModelServer,
  modelWires,
  type ReceivedModelRequest,
  startModelServer,
} from "@gennai/testkit/model-server/model-server";
import { startTestServer, type TestServer, type TestServerOptions } from "@gennai/testkit/test-server";

export interface ProviderWorld extends AsyncDisposable {
  readonly server: TestServer;
  readonly provider: ModelServer;
}

/** A server whose sessions ask a provider on the loopback. */
export async function providerWorld(
  answer: (count: number, request: ReceivedModelRequest) => ModelAnswer | ModelRefusal,
  {
    backend = "openai-compatible",
    ...options
  }: TestServerOptions & { readonly backend?: keyof typeof modelWires } = {},
): Promise<ProviderWorld> {
  const provider = await startModelServer(modelWires[backend], answer);
  const server = await startTestServer({
    ...options,
    server: { environment: { ...process.env, GENNAI_API_KEY: "key-0123456789abcdef" }, ...options.server },
    settings: { backend, model: "qwen3", baseUrl: provider.baseUrl, ...options.settings },
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

interface WireMessage {
  readonly role: string;
  readonly content: string;
}

/** Messages of a request, their content as text. */
export function messagesOf(request: ReceivedModelRequest | undefined): readonly WireMessage[] {
  const messages = request?.body["messages"];
  if (!Array.isArray(messages)) return [];
  return messages.map((message: { role?: unknown; content?: unknown }) => ({
    role: String(message.role),
    content: typeof message.content === "string" ? message.content : JSON.stringify(message.content ?? ""),
  }));
}

export function isSummaryRequest(request: ReceivedModelRequest): boolean {
  return messagesOf(request).at(-1)?.content.includes("Summarise this conversation.") === true;
}
