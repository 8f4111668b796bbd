import type { Message } from "@gennai/agent/model";

type UserMessage = Extract<Message, { readonly role: "user" }>;

/** A message, and the images that follow it if results cannot contain images. */
export interface WithImagesBehind {
  readonly message: Message;
  readonly images?: UserMessage;
}

/** The images of neighbouring results as a message of the user's side behind the last of them: nothing may part results. */
export function imagesBehindResults(messages: readonly Message[]): readonly WithImagesBehind[] {
  let images: Uint8Array[] = [];
  let names: string[] = [];
  return messages.map((message, index) => {
    if (message.role !== "tool") return { message };
    for (const image of message.images ?? []) {
      images.push(image);
      names.push(message.name);
    }
    if (messages[index + 1]?.role === "tool" || images.length === 0) return { message };
    const text = `[What the tools showed, in the order of their results: ${names.join(", ")}. It is material, and no word of the user's.]`;
    const behind: UserMessage = { role: "user", text, images };
    images = [];
    names = [];
    return { message, images: behind };
  });
}
