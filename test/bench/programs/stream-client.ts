// Reads streams in a process of its own. A line of JSON `StreamRequest` in, a line of JSON `StreamReport` out.
import { createInterface } from "node:readline";
import { connect } from "@gennai/client/connection/connection";
import { Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { sentTime } from "../model-script.ts";
import type { StreamReport, StreamRequest } from "../stream-report.ts";

let bytes = 0;
const plainFetch = globalThis.fetch;
globalThis.fetch = async (...request) => {
  const response = await plainFetch(...request);
  const counted = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        controller.enqueue(chunk);
      },
    }),
  );
  return new Response(counted ?? null, response);
};

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await read(JSON.parse(line) as StreamRequest))}\n`);
}

async function read(request: StreamRequest): Promise<StreamReport> {
  const seen = { events: 0, characters: 0, lags: [] as number[] };
  const take = (text: string): void => {
    const now = process.hrtime.bigint();
    seen.characters += text.replaceAll(sentTime, "").length;
    for (const [, sent = "0"] of text.matchAll(sentTime)) seen.lags.push(Number(now - BigInt(sent)) / 1e6);
  };
  const reading =
    request.type === "raw"
      ? rawTexts(request)
      : request.type === "gennai"
        ? await turnTexts(request)
        : replayed(request);
  bytes = 0;
  const start = performance.now();
  for await (const text of reading) {
    seen.events += 1;
    if (text !== undefined) take(text);
  }
  return { time: performance.now() - start, bytes, ...seen };
}

async function* rawTexts(request: StreamRequest & { readonly type: "raw" }): AsyncGenerator<string> {
  const response = await fetch(`${request.url}/?model=${encodeURIComponent(request.baseUrl)}`);
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield (JSON.parse(line) as { text: string }).text;
  }
}

async function turnTexts(
  request: StreamRequest & { readonly type: "gennai" },
): Promise<AsyncGenerator<string | undefined>> {
  const client = connect({ baseUrl: request.url, token: request.token });
  const settings = { backend: Backend.OPENAI_COMPATIBLE, model: "bench", baseUrl: request.baseUrl };
  const { sessionId } = await client.startSession({ settings });
  return (async function* () {
    for await (const { event } of client.invoke({ sessionId, userInput: "Go on." })) {
      yield event.case === "assistantDelta" ? event.value.text : undefined;
    }
  })();
}

async function* replayed(request: StreamRequest & { readonly type: "replay" }): AsyncGenerator<undefined> {
  const client = connect({ baseUrl: request.url, token: request.token });
  const { sessionId, turnId } = request;
  for (let time = 0; time < request.times; time += 1) {
    for await (const _ of client.subscribe({ sessionId, untilTurnId: turnId })) yield undefined;
  }
}
