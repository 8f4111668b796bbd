import type { SessionEvent } from "#events/session-event";

type UserMessage = SessionEvent & { readonly type: "user-message" };

/** What a user said, with nothing beside it. */
export function userMessage(text: string, more: Partial<UserMessage> = {}): UserMessage {
  return { type: "user-message", text, scenario: "", clientTurnId: "", enableThinking: false, images: [], ...more };
}
