import { type Model, type ModelEvent, type ModelRequest, userSideText } from "@gennai/agent/model";
import { breathe } from "./event-loop.ts";
import { nextAnswer } from "./next-answer.ts";

/** Roughly; good enough to show that a budget is being used. */
const charactersPerToken = 4;
const wordsPerBreath = 64;
/** By code points, so that no piece ends in half a character. */
const argumentPieces = /[\s\S]{1,256}/gu;

/**
 * The assistant that needs no network and no key. It knows a small language (`parse-request.ts`), turns it into real tool calls
 * and reports what their results say. The same conversation always gets the same answer.
 */
export class OfflineModel implements Model {
  readonly id = "offline/gennai";
  readonly capabilities = { toolCalling: true, thinking: true, vision: false, structuredOutput: false };
  readonly maxContextTokens = 0;

  async *stream(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent> {
    signal.throwIfAborted();
    const answer = nextAnswer(request);
    let written = 0;
    if (request.enableThinking) {
      yield* inWords("thinking-delta", answer.thought, signal);
      written += answer.thought.length;
    }
    if (answer.type === "text") {
      yield* inWords("text-delta", answer.text, signal);
      written += answer.text.length;
    } else {
      for (const [index, call] of answer.calls.entries()) {
        // The place in the conversation makes the id unique in it.
        const id = `offline-${request.messages.length}-${index + 1}`;
        const argumentsJson = JSON.stringify(call.args);
        yield { type: "tool-call-start", id, name: call.name };
        await breathe(signal);
        for (const [text] of argumentsJson.matchAll(argumentPieces)) yield { type: "tool-call-delta", id, text };
        yield { type: "tool-call", id, name: call.name, argumentsJson };
        written += argumentsJson.length;
      }
    }
    yield { type: "usage", inputTokens: tokens(requestLength(request)), outputTokens: tokens(written) };
    yield { type: "finish", reason: answer.type === "calls" ? "tool-calls" : "stop" };
  }
}

async function* inWords(
  type: "thinking-delta" | "text-delta",
  text: string,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  let count = 0;
  for (const [word] of text.matchAll(/\s*\S+\s*/g)) {
    if (count % wordsPerBreath === 0) await breathe(signal);
    count += 1;
    yield { type, text: word };
  }
}

function requestLength({ system, messages }: ModelRequest): number {
  const lengths = messages.map((message) => {
    if (message.role === "tool") return message.output.length;
    if (message.role !== "assistant") return userSideText(message).length;
    return message.text.length + message.toolCalls.reduce((sum, call) => sum + call.argumentsJson.length, 0);
  });
  return lengths.reduce((sum, length) => sum + length, system.length);
}

function tokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
