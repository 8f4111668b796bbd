import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listening } from "@gennai/testkit/listening";

export type Handler = (response: ServerResponse, request: ReceivedRequest, count: number) => void | Promise<void>;

export interface ReceivedRequest {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: { readonly messages: readonly unknown[]; readonly [key: string]: unknown };
}

/** A chat-completions server on the loopback that answers as the handler says. */
export async function startChatServer(handler: Handler) {
  const requests: ReceivedRequest[] = [];
  let closed = 0;
  const server = createServer(async (incoming: IncomingMessage, response) => {
    response.on("close", () => {
      closed += 1;
    });
    let text = "";
    for await (const chunk of incoming) text += String(chunk);
    const request = { url: incoming.url ?? "", authorization: incoming.headers.authorization, body: JSON.parse(text) };
    requests.push(request);
    await handler(response, request, requests.length);
  });
  const { port, ...closing } = await listening(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    /** Responses that ended, by whichever side. */
    closed: () => closed,
    ...closing,
  };
}

export function sse(...chunks: readonly unknown[]): string {
  return chunks.map((chunk) => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`).join("");
}

export function delta(delta: Record<string, unknown>, finish: string | null = null) {
  return {
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

export function begin(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { "content-type": "text/event-stream" });
}

export function fail(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}) {
  response
    .writeHead(status, { "content-type": "application/json", ...headers })
    .end(JSON.stringify({ error: { message, type: "x" } }));
}
