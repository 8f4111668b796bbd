import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import * as z from "zod";
import type { Expected } from "./real-agent.ts";

const chat = z.looseObject({
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
  tools: z.array(z.unknown()).default([]),
});

/** Results of calls that a request of the chat protocol carries, in order. */
export function toldByChat(body: unknown): readonly string[] {
  const { messages } = chat.parse(body);
  return messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.stringify(content));
}

/** The next call after those that have a result. Requests without tools are about titles and such. */
export function chatAnswer(body: unknown, calls: Expected["calls"]): ModelAnswer {
  if (chat.parse(body).tools.length === 0) return { text: ["ok"] };
  const done = toldByChat(body).length;
  const call = calls[done];
  return call === undefined ? { text: ["Done."] } : { calls: [{ id: `call_${done}`, ...call }] };
}
