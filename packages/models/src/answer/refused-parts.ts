import { withoutImages } from "@gennai/agent/conversation/shown-images";
import type { Message, ModelRequest } from "@gennai/agent/model";
import { saysOverflow } from "../request/overflow-words.ts";

/** What messages contain that a server may refuse, and that a conversation can go on without. */
export interface RefusedPart {
  /** Refusals that are about it. */
  readonly words: RegExp;
  /** The message without it: always the same object, and the message itself where it has none. */
  readonly without: (message: Message) => Message;
  /**
   * Messages whose part a server did not take, by base URL and model. For this process: they would be refused in every later
   * request of their conversation, which could not go on.
   */
  readonly refused: Map<string, WeakSet<Message>>;
}

const parts: readonly RefusedPart[] = [
  {
    // "Could not process image", "is not a multimodal model", "unknown variant `image_url`" and the like.
    words: /image|multi-?modal|\bvision\b/i,
    without: (message) => withoutImages(message, "refused"),
    refused: new Map(),
  },
  {
    // What was signed holds for one account and one model: "Invalid `signature` in `thinking` block", "The encrypted content for
    // item rs_… could not be verified", "Corrupted thought signature".
    words: /(?:thinking|reasoning)\W+block|thought.?signature|encrypted.?content|reasoning_details/i,
    without: withoutThinking,
    refused: new Map(),
  },
];

/** The request without what this server refused before. */
export function withoutRefused(server: string, request: ModelRequest): ModelRequest {
  const known = parts.filter(({ refused }) => refused.has(server));
  if (known.length === 0) return request;
  const shorten = (whole: Message) =>
    known.reduce((message, part) => (part.refused.get(server)?.has(whole) ? part.without(message) : message), whole);
  return { ...request, messages: request.messages.map(shorten) };
}

/** The request without the part that this refusal is about; undefined where it has none. */
export function withoutPart(
  refusal: string,
  request: ModelRequest,
): { readonly part: RefusedPart; readonly request: ModelRequest } | undefined {
  if (saysOverflow(refusal)) return undefined;
  for (const part of parts) {
    if (!part.words.test(refusal)) continue;
    const messages = request.messages.map(part.without);
    if (messages.some((message, at) => message !== request.messages[at]))
      return { part, request: { ...request, messages } };
  }
  return undefined;
}

/** Keeps that part of a request out of all later ones, since the server took it without. */
export function rememberRefused(server: string, { messages }: ModelRequest, { without, refused }: RefusedPart): void {
  const known = refused.get(server) ?? new WeakSet();
  for (const message of messages) if (without(message) !== message) known.add(message);
  refused.set(server, known);
}

const unthinking = new WeakMap<Message, Message>();

function withoutThinking(message: Message): Message {
  if (message.role !== "assistant" || message.toolCalls.every(({ providerState }) => providerState === undefined))
    return message;
  const known = unthinking.get(message);
  if (known !== undefined) return known;
  const toolCalls = message.toolCalls.map(({ id, name, argumentsJson }) => ({ id, name, argumentsJson }));
  const made = { ...message, toolCalls };
  unthinking.set(message, made);
  return made;
}
