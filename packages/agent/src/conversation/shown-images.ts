import type { Message } from "../model.ts";

/**
 * Limits for the images of one request; beyond them, half are dropped. From the twenty-first image of a request on,
 * Anthropic takes only small ones; Gemini takes 20 MB in total.
 */
const most = { count: 20, bytes: 12_000_000 } as const;

/** Why an image is left out, as the sentence that replaces it. */
const sentences = {
  blind: "[An image stands here, but this model cannot see images.]",
  older: "[An image stood here. It was left out to save room: have it shown again if you need it.]",
  refused: "[An image stands here, but the model's provider refused a request with it: you cannot see it.]",
  gif: "[A GIF stands here, but this model's provider takes none: you cannot see it. A copy as PNG can be shown.]",
} as const;

type Reason = keyof typeof sentences;

/** Replacements by message: always the same object, because encoded messages are cached by identity. */
const replaced: Readonly<Record<Reason, WeakMap<Message, Message>>> = {
  blind: new WeakMap(),
  older: new WeakMap(),
  refused: new WeakMap(),
  gif: new WeakMap(),
};

/**
 * The messages with images as far as the model may get them. Old images are dropped by halves, oldest first, so that
 * consecutive requests begin the same until there are too many images again.
 * @param options.sees whether the model accepts images at all
 */
export function withShownImages(
  messages: readonly Message[],
  { sees }: { readonly sees: boolean },
): readonly Message[] {
  if (!sees) return messages.map((message) => withoutImages(message, "blind"));
  const hidden = new Set<number>();
  const shown: { readonly index: number; readonly count: number; readonly bytes: number }[] = [];
  for (const [index, message] of messages.entries()) {
    const images = imagesOf(message);
    if (images.length === 0) continue;
    shown.push({ index, count: images.length, bytes: images.reduce((sum, { length }) => sum + length, 0) });
    if (fits(shown, 1)) continue;
    // The newest image stays, however large it is.
    while (shown.length > 1 && !fits(shown, 0.5)) hidden.add(shown.shift()?.index ?? -1);
  }
  return messages.map((message, index) => (hidden.has(index) ? withoutImages(message, "older") : message));
}

/** The message with a sentence in place of its images; unchanged if it has none. With `gif`, only GIF images are replaced. */
export function withoutImages(message: Message, why: Reason): Message {
  const images = imagesOf(message);
  const kept = why === "gif" ? images.filter((image) => !isGif(image)) : [];
  if (kept.length === images.length) return message;
  const known = replaced[why].get(message);
  if (known !== undefined) return known;
  const made = toldOf(message, sentences[why], kept);
  replaced[why].set(message, made);
  return made;
}

function toldOf(message: Message, sentence: string, kept: readonly Uint8Array[]): Message {
  if (message.role !== "tool" && message.role !== "user") return message;
  const { images: _, ...text } = message;
  const images = kept.length === 0 ? {} : { images: kept };
  if (text.role === "tool") return { ...text, ...images, output: `${text.output}\n${sentence}` };
  const attached = text.attached === undefined ? sentence : `${sentence}\n\n${text.attached}`;
  return { ...text, ...images, attached };
}

function isGif(image: Uint8Array): boolean {
  return [0x47, 0x49, 0x46, 0x38].every((byte, at) => image[at] === byte);
}

/** The images of a message. */
export function imagesOf(message: Message): readonly Uint8Array[] {
  return message.role === "user" || message.role === "tool" ? (message.images ?? []) : [];
}

function fits(shown: readonly { readonly count: number; readonly bytes: number }[], part: number): boolean {
  const sum = (of: "count" | "bytes"): number => shown.reduce((total, each) => total + each[of], 0);
  return sum("count") <= most.count * part && sum("bytes") <= most.bytes * part;
}
