import type { Message, ModelRequest } from "@gennai/agent/model";
import { imagesOf, withoutImages } from "@gennai/agent/shown-images";
import { saysOverflow } from "./overflow-words.ts";

/**
 * Messages with images that a server did not take, by base URL and model. For this process: they would be refused in every
 * later request of their conversation, which could not go on.
 */
const refused = new Map<string, WeakSet<Message>>();

/** The request without the images that this server refused before. */
export function withoutRefusedImages(server: string, request: ModelRequest): ModelRequest {
  const known = refused.get(server);
  if (known === undefined) return request;
  return { ...request, messages: request.messages.map((message) => without(message, known.has(message))) };
}

/** The request without any image; undefined where it has none, or the refusal is about something else. */
export function withoutImagesAfter(refusal: string, request: ModelRequest): ModelRequest | undefined {
  if (!request.messages.some(hasImages) || !aboutImages.test(refusal) || saysOverflow(refusal)) return undefined;
  return { ...request, messages: request.messages.map((message) => without(message, true)) };
}

/** Keeps the images of a request out of all later ones, since the server took it without them. */
export function rememberRefusedImages(server: string, { messages }: ModelRequest): void {
  const known = refused.get(server) ?? new WeakSet();
  for (const message of messages) if (hasImages(message)) known.add(message);
  refused.set(server, known);
}

/** "Could not process image", "is not a multimodal model", "unknown variant `image_url`" and the like. */
const aboutImages = /image|multi-?modal|\bvision\b/i;

function without(message: Message, isRefused: boolean): Message {
  return isRefused ? withoutImages(message, "refused") : message;
}

function hasImages(message: Message): boolean {
  return imagesOf(message).length > 0;
}
