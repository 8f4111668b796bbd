// The scripted model: chat completions over server-sent events. Prints its port; ends with its standard input.
import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { answerOf, floodPiece, pauseOf, type ScriptedCall } from "../model-script.ts";

interface Run {
  /** Requests of the turn so far. */
  index: number;
  /** When the last answer that called a tool was out. */
  answered: number | undefined;
  /** When its first request came, in nanoseconds of the clock that all processes share. */
  readonly first: string;
  /** Milliseconds from the end of an answer to the next request, one for each call. */
  readonly gaps: number[];
}

const runs = new Map<string, Run>();

const server = createServer((request, response) => {
  const [, key = "", script = ""] = (request.url ?? "").split("/");
  // What a longer conversation takes on its way is not the agent's doing.
  const arrived = performance.now();
  request.resume();
  request.once("end", () => {
    if (request.method === "POST") void answer(key, script, arrived, response);
    else if (key === "gaps") sendJson(response, runs.get(script)?.gaps ?? []);
    else if (key === "first") sendJson(response, runs.get(script)?.first ?? "");
    else sendJson(response, "pong");
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : 0}\n`);
});
process.stdin.resume().once("end", () => process.exit());

async function answer(key: string, script: string, arrived: number, response: ServerResponse): Promise<void> {
  const run = runs.get(key) ?? { index: 0, answered: undefined, first: String(process.hrtime.bigint()), gaps: [] };
  runs.set(key, run);
  if (run.answered !== undefined) run.gaps.push(arrived - run.answered);
  run.answered = undefined;
  const pause = pauseOf(script);
  if (pause > 0) await sleep(pause);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const next = answerOf(script, run.index);
  run.index = next.type === "calls" ? run.index + 1 : 0;
  switch (next.type) {
    case "calls":
      response.end(next.calls.map((call, at) => callChunks(call, run.index, at)).join("") + end("tool_calls"));
      run.answered = performance.now();
      break;
    case "text":
      response.end(chunk({ role: "assistant", content: next.text }) + end("stop"));
      break;
    case "flood":
      await flood(response, next.deltas);
      break;
    case "paced":
      await paced(response, next.deltas, next.perSecond);
      break;
  }
}

async function flood(response: ServerResponse, deltas: number): Promise<void> {
  const block = 200;
  const text = chunk({ content: floodPiece }).repeat(block);
  response.write(stamped());
  for (let sent = 0; sent < deltas; sent += block) {
    if (!response.write(text)) await new Promise((resolve) => response.once("drain", resolve));
  }
  response.end(end("stop"));
}

/** A piece that says when it was sent. */
function stamped(): string {
  return chunk({ content: `${process.hrtime.bigint()};` });
}

async function paced(response: ServerResponse, deltas: number, perSecond: number): Promise<void> {
  const start = performance.now();
  for (let sent = 0; sent < deltas; sent += 1) {
    const due = start + (sent * 1000) / perSecond;
    await sleep(Math.max(0, due - performance.now()));
    response.write(stamped());
  }
  response.end(end("stop"));
}

/** As providers send a call: its name first, its arguments behind it. */
function callChunks({ name, arguments: args }: ScriptedCall, request: number, index: number): string {
  const id = `call-${request}-${index}`;
  return (
    chunk({ role: "assistant", tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }) +
    chunk({ tool_calls: [{ index, function: { arguments: JSON.stringify(args) } }] })
  );
}

function chunk(delta: object): string {
  return event({ choices: [{ index: 0, delta, finish_reason: null }] });
}

function end(reason: string): string {
  const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
  return `${event({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })}${event({ choices: [], usage })}data: [DONE]\n\n`;
}

function event(body: object): string {
  return `data: ${JSON.stringify({ id: "answer", object: "chat.completion.chunk", created: 1, model: "bench", ...body })}\n\n`;
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
