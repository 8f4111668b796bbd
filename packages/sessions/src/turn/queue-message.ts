import { SessionHooks } from "../rules/session-hooks.ts";
import type { Session } from "../session/session.ts";
import { storeImages } from "./store-images.ts";
import { TurnHooks } from "./turn-hooks.ts";

/** A user's message during a turn. */
export interface SaidMessage {
  readonly messageId: string;
  readonly text: string;
  readonly images: readonly Uint8Array[];
}

/** Stores it for the model's next call; resolves with the turn's id when it is durable. Rejects with `ServiceError`. */
export async function queueMessage(session: Session, { messageId, text, images }: SaidMessage): Promise<string> {
  const { redactor, blobs } = session.services;
  const known = session.state.messageTurns.get(messageId);
  if (known !== undefined) return known;
  const { signal } = new AbortController();
  const hooked = await new TurnHooks(session, await SessionHooks.of(session), signal).join(text);
  const [masked, stored] = await Promise.all([redactor.redact(text), storeImages(blobs, images)]);
  const turnId = await session.queuedMessages.add(messageId, { text: masked, images: stored });
  session.hookContext.push(...hooked);
  return turnId;
}

/** Withdraws a message that no model got. Otherwise rejects with `ServiceError`. */
export async function withdrawMessage(session: Session, messageId: string): Promise<Omit<SaidMessage, "messageId">> {
  const { text, images } = await session.queuedMessages.withdraw(messageId);
  const found = await Promise.all(images.map(({ sha256 }) => session.services.blobs.get(sha256)));
  return { text, images: found.filter((bytes) => bytes !== undefined) };
}
