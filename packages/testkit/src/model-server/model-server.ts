import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { listening } from "#listening";
import { anthropicWire } from "./anthropic-wire.ts";
import { chatWire } from "./chat-wire.ts";
import { geminiWire } from "./gemini-wire.ts";
import type { ModelAnswer, ModelRefusal, ModelWire } from "./model-answer.ts";
import { responsesWire } from "./responses-wire.ts";

/** Each backend with the protocol its provider speaks. */
export const modelWires = {
  "openai-compatible": chatWire,
  ollama: chatWire,
  openai: responsesWire,
  anthropic: anthropicWire,
  gemini: geminiWire,
} as const satisfies Readonly<Record<string, ModelWire>>;

export interface ReceivedModelRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ModelServer extends AsyncDisposable {
  /** For a session's settings. */
  readonly baseUrl: string;
  readonly requests: readonly ReceivedModelRequest[];
}

type GivenAnswer = ModelAnswer | ModelRefusal;

/**
 * A provider on the loopback that gives the wanted answers, in its wire format.
 * @param options.models its list of models; absent: none
 * @param answer by the number of the request, from 1; a promise delays the answer
 */
export async function startModelServer(
  wire: ModelWire,
  answer: (count: number, request: ReceivedModelRequest) => GivenAnswer | Promise<GivenAnswer>,
  { models }: { readonly models?: readonly object[] } = {},
): Promise<ModelServer> {
  const requests: ReceivedModelRequest[] = [];
  const server = createServer(async (incoming, response) => {
    // What clients ask about the server itself.
    if (incoming.method === "GET" || incoming.url?.startsWith(wire.basePath) !== true) {
      const isList = models !== undefined && incoming.url === `${wire.basePath}/models`;
      response.writeHead(isList ? 200 : 404, { "content-type": "application/json" });
      response.end(isList ? JSON.stringify({ data: models }) : "{}");
      return;
    }
    let text = "";
    for await (const chunk of incoming) text += String(chunk);
    const request = { url: incoming.url ?? "", headers: incoming.headers, body: bodyOf(text) };
    requests.push(request);
    const said = await answer(requests.length, request);
    if ("status" in said) {
      response.writeHead(said.status, { "content-type": "application/json", ...said.headers });
      response.end(said.body ?? wire.refusal(said));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    let sent = 0;
    for (const frame of wire.frames(said)) {
      if (sent === said.endAfter) break;
      if (sent === said.dieAfter) {
        // What was sent has arrived, then the connection breaks.
        await new Promise((resolve) => setTimeout(resolve, 20));
        response.destroy();
        return;
      }
      sent += 1;
      if (!response.write(frame)) await once(response, "drain");
    }
    response.end();
  });
  const { port, ...closing } = await listening(server);
  return {
    baseUrl: `http://127.0.0.1:${port}${wire.basePath}`,
    requests,
    ...closing,
  };
}

function bodyOf(text: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
}
