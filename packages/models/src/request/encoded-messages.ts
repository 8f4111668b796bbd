import type { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import { imagesOf, withoutImages } from "@gennai/agent/conversation/shown-images";
import { type Message, userSideText } from "@gennai/agent/model";
import { type ChatDialect, inDialect } from "./chat-dialect.ts";
import { imagesBehindResults } from "./images-behind-results.ts";
import { toPrompt } from "./provider-prompt.ts";

/** For whom a conversation is encoded. */
export interface Reader {
  readonly chat: OpenAICompatibleChatLanguageModel;
  /** Whose thinking it gets back. */
  readonly model: string;
  readonly dialect: ChatDialect;
}

/**
 * The conversations that were sent, by reader and by their first message. Messages never change once a model was told them, so each is
 * converted and encoded once for all requests, behind those before it.
 */
const conversationsOf = new Map<string, WeakMap<Message, EncodedConversation>>();

/**
 * Messages as elements of a JSON array, a comma before each. What was once handed out never changes. What the user's side says in a
 * row is one element, at the last of its messages: many models want the roles to alternate.
 */
interface EncodedConversation {
  readonly messages: Message[];
  /** How many bytes there are up to the end of each. */
  readonly ends: number[];
  /** Whole messages, in order; so that what is there need not be copied when more is added. */
  readonly pieces: Piece[];
  /** The text before it in the last request. */
  system?: { readonly text: string; readonly bytes: Buffer };
}

interface Piece {
  readonly bytes: Buffer;
  /** So many of them are messages; the others are free. */
  used: number;
}

/** Bytes of a piece, unless one message is longer. */
const pieceBytes = 32 * 1024;

/** The conversation as elements of the JSON array `messages`, each behind a comma: the system message, then the messages. */
export async function encodeMessages(
  reader: Reader,
  system: string,
  messages: readonly Message[],
): Promise<readonly Uint8Array[]> {
  const [first] = messages;
  if (first === undefined) return system === "" ? [] : [encodedSystem(system)];
  const conversations = sentTo(reader);
  const known = conversations.get(first);
  const shared = known === undefined ? 0 : sharedLength(known.messages, messages);
  const added = messages.slice(shared);
  const encoded = added.length === 0 ? [] : await encodeEach(reader, added);
  // Another request may have gone further meanwhile, from the same place or another.
  const latest = conversations.get(first);
  const isPrefix = latest !== undefined && latest === known && latest.messages.length === shared;
  const conversation = isPrefix ? latest : copyOf(known, shared);
  append(conversation, added, encoded);
  conversations.set(first, conversation);
  const told = conversation.pieces.map(({ bytes, used }) => bytes.subarray(0, used));
  if (system === "") return told;
  // It mostly stays the same.
  if (conversation.system?.text !== system) conversation.system = { text: system, bytes: encodedSystem(system) };
  return [conversation.system.bytes, ...told];
}

function encodedSystem(system: string): Buffer {
  return ownBytes(`,${JSON.stringify({ role: "system", content: system })}`);
}

/** For what is kept: `Buffer.from` takes a place in 64 KB that it shares with others, all of which stays. */
function ownBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

function sentTo({ model, dialect }: Reader): WeakMap<Message, EncodedConversation> {
  const { effort: _effort, usage: _usage, limit: _limit, ...ofMessages } = dialect;
  const key = JSON.stringify([model, ofMessages]);
  const known = conversationsOf.get(key) ?? new WeakMap<Message, EncodedConversation>();
  conversationsOf.set(key, known);
  return known;
}

/** The bytes of each; the first of them follows no message that it could be joined to. */
async function encodeEach({ chat, model, dialect }: Reader, messages: readonly Message[]): Promise<readonly Buffer[]> {
  const shown = dialect.images ? messages : messages.map((message) => withoutImages(message, "blind"));
  const told = joinedUserSide(shown);
  const { body } = await chat.prepareRequest({
    prompt: inDialect(
      dialect,
      toPrompt(
        model,
        "",
        told.map(({ message }) => message),
        { resultImages: "apart" },
      ),
    ),
  });
  const converted: unknown = body["messages"];
  if (!Array.isArray(converted) || converted.length !== told.length) {
    throw new TypeError("The provider library did not make one message of each.");
  }
  const behindResult = dialect.userBehindResult ? "" : `,${JSON.stringify(understood)}`;
  const texts = messages.map(() => "");
  for (const [index, { message, at }] of told.entries()) {
    const parted = isUserSide(message) && told[index - 1]?.message.role === "tool";
    texts[at] += `${parted ? behindResult : ""},${JSON.stringify(converted[index])}`;
  }
  return texts.map((text) => Buffer.from(text));
}

/** Between a tool's result and what the user's side says, where a server wants an answer there. */
const understood = { role: "assistant", content: "Understood." };

/** What is told, and the index of the message where it stands. */
interface Told {
  readonly message: Message;
  readonly at: number;
}

/** The messages and the images behind their results, with neighbours of the user's side as one message. */
function joinedUserSide(messages: readonly Message[]): readonly Told[] {
  const told: Told[] = [];
  for (const [at, { message, images }] of imagesBehindResults(messages).entries()) {
    const before = told.at(-1)?.message;
    if (isUserSide(before) && isUserSide(message)) told.splice(-1, 1, { message: joined(before, message), at });
    else told.push({ message, at });
    if (images !== undefined) told.push({ message: images, at });
  }
  return told;
}

type UserSide = Extract<Message, { readonly role: "user" | "note" }>;

function isUserSide(message: Message | undefined): message is UserSide {
  return message?.role === "user" || message?.role === "note";
}

function joined(one: UserSide, other: UserSide): Message {
  const text = [one, other].map(userSideText).filter((each) => each !== "");
  return { role: "user", text: text.join("\n\n"), images: [...imagesOf(one), ...imagesOf(other)] };
}

/** How many messages are told the same way in both, whatever follows them. */
function sharedLength(one: readonly Message[], other: readonly Message[]): number {
  const most = Math.min(one.length, other.length);
  let shared = 0;
  while (shared < most && one[shared] === other[shared]) shared += 1;
  // What is behind the last answer may be one message with what follows.
  if (isUserSide(one[shared]) || isUserSide(other[shared]))
    while (shared > 0 && other[shared - 1]?.role !== "assistant") shared -= 1;
  return shared;
}

/** One of its own with the first so many messages. It shares their bytes, and adds others elsewhere. */
function copyOf(known: EncodedConversation | undefined, count: number): EncodedConversation {
  if (known === undefined) return { messages: [], ends: [], pieces: [] };
  const ends = known.ends.slice(0, count);
  const pieces: Piece[] = [];
  let left = ends.at(-1) ?? 0;
  for (const piece of known.pieces) {
    if (left === 0) break;
    const used = Math.min(left, piece.used);
    pieces.push({ bytes: piece.bytes.subarray(0, used), used });
    left -= used;
  }
  return { messages: known.messages.slice(0, count), ends, pieces };
}

/** Behind what is there: requests under way keep what they were given. */
function append(conversation: EncodedConversation, messages: readonly Message[], encoded: readonly Buffer[]): void {
  let end = conversation.ends.at(-1) ?? 0;
  for (const [index, bytes] of encoded.entries()) {
    let piece = conversation.pieces.at(-1);
    if (piece === undefined || piece.bytes.length - piece.used < bytes.length) {
      piece = { bytes: Buffer.allocUnsafeSlow(Math.max(pieceBytes, bytes.length)), used: 0 };
      conversation.pieces.push(piece);
    }
    piece.used += bytes.copy(piece.bytes, piece.used);
    end += bytes.length;
    const message = messages[index];
    if (message !== undefined) conversation.messages.push(message);
    conversation.ends.push(end);
  }
}

/** A request without its messages. */
export interface RequestFrame {
  readonly before: Uint8Array;
  readonly behind: Uint8Array;
}

/** @param json of the request, with an empty list of messages */
export function requestFrame(json: string): RequestFrame {
  // Quotes inside of JSON strings are escaped, so this can only be the key; the library writes it before the tools.
  const at = json.indexOf('"messages":[]');
  if (at === -1) throw new TypeError("The provider library's request has no list of messages.");
  const inside = at + '"messages":['.length;
  return { before: ownBytes(json.slice(0, inside)), behind: ownBytes(json.slice(inside)) };
}

/** The request with these messages, in parts. */
export function withMessages({ before, behind }: RequestFrame, messages: readonly Uint8Array[]): readonly Uint8Array[] {
  const [first, ...others] = messages;
  return first === undefined ? [before, behind] : [before, first.subarray(1), ...others, behind];
}
