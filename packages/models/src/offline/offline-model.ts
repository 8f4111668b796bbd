import type { Model, ModelEvent, ModelRequest } from "@gennai/agent/model";
import { scenarioPart } from "@gennai/agent/prompt/system-prompt";
import { planAnswerRule } from "@gennai/agent/scenarios/plan-scenario";
import { breathe } from "./event-loop.ts";
import { helpText, parseRequest } from "./parse-request.ts";
import { performSteps } from "./perform-steps.ts";
import { failedPlan, planAnswer } from "./plan-answer.ts";
import { type Call, noReply, replyOf, within } from "./work.ts";

/** Roughly; good enough to show that a budget is being used. */
const charactersPerToken = 4;
const wordsPerBreath = 64;

/**
 * The assistant that needs no network and no key. It knows a small language (`parse-request.ts`), turns it into real tool calls
 * and reports what their results say. The same conversation always gets the same answer.
 */
export class OfflineModel implements Model {
  readonly id = "offline/gennai";
  readonly capabilities = { toolCalling: true, thinking: false, vision: false, structuredOutput: false };
  readonly maxContextTokens = 0;

  async *stream(request: ModelRequest, { signal }: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent> {
    signal.throwIfAborted();
    const answer = nextAnswer(request);
    if (typeof answer === "string") {
      for (const [index, [text]] of [...answer.matchAll(/\s*\S+\s*/g)].entries()) {
        if (index % wordsPerBreath === 0) await breathe(signal);
        yield { type: "text-delta", text };
      }
    } else {
      for (const [index, { name, args }] of answer.entries()) {
        // The place in the conversation makes the id unique in it.
        const id = `offline-${request.messages.length}-${index + 1}`;
        const argumentsJson = JSON.stringify(args);
        yield { type: "tool-call-start", id, name };
        yield { type: "tool-call-delta", id, text: argumentsJson };
        yield { type: "tool-call", id, name, argumentsJson };
      }
    }
    const asked = request.system.length + JSON.stringify(request.messages).length;
    yield { type: "usage", inputTokens: tokens(asked), outputTokens: tokens(JSON.stringify(answer).length) };
    yield { type: "finish", reason: typeof answer === "string" ? "stop" : "tool-calls" };
  }
}

/**
 * The last word, or the next calls. Stateless: the work for the latest user message is replayed from the beginning with the
 * results in the conversation, up to the first calls without one. Only the user's own text is a request: attachments, notes of
 * the server and tool results ask for nothing. Pure.
 */
export function nextAnswer({
  messages,
  tools,
  system,
}: Pick<ModelRequest, "messages" | "tools" | "system">): string | readonly Call[] {
  const start = messages.findLastIndex((message) => message.role === "user");
  const request = messages[start];
  const text = request?.role === "user" ? request.text : "";
  const isPlan = scenarioPart(system).includes(planAnswerRule);
  const failed = (words: string) => (isPlan ? failedPlan(words) : words);
  if (/^(?:help[.!?]?)?$/i.test(text.trim())) return failed(helpText());
  const steps = parseRequest(text);
  if ("clause" in steps) {
    const form = steps.usage === undefined ? "" : ` Write: ${steps.usage}.`;
    return failed(helpText(`I do not understand “${steps.clause}”.${form} I did nothing.`));
  }
  const names = new Set(tools.map(({ name }) => name));
  const proposes = names.has("ProposeChanges") && !names.has("Edit") && !names.has("Write");
  const work = within(isPlan ? planAnswer(steps, `plan-${start + 1}`) : performSteps(steps, proposes), names);
  let next = work.next();
  for (const [index, message] of messages.entries()) {
    if (index < start || message.role !== "assistant" || message.toolCalls.length === 0) continue;
    const planned = next.done === true ? [] : next.value;
    if (planned.map(({ name }) => name).join() !== message.toolCalls.map(({ name }) => name).join())
      return "I lost track: the conversation is not as I left it. Tool results above say what was done. Please ask again.";
    const replies = message.toolCalls.map(({ id }) => {
      // Ids need only be unique within one answer: the next reply is the one.
      const reply = messages.slice(index).find((each) => each.role === "tool" && each.id === id);
      return reply?.role === "tool" ? replyOf(reply.output, reply.isError) : noReply;
    });
    next = work.next(replies);
  }
  return next.value;
}

function tokens(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}
