import type { ConfirmationItem, RequestState } from "./items/view-item.ts";

/** What a question came to, and who answered it. @param clientId id of this client: an answer with it was given here */
export function answerWords(
  { state, reply, answeredBy }: Pick<ConfirmationItem, "state" | "reply" | "answeredBy">,
  clientId: string,
): string {
  if (state === "open") return "waits for an answer below";
  if (state !== "answered") return stateWords[state];
  const here = answeredBy === clientId;
  if (reply === undefined) return here ? "answered here" : "answered elsewhere";
  if (reply.answer === "nobody") return "nobody could be asked";
  const what = reply.answer === "no" ? "denied" : `allowed ${scopes[reply.scope ?? "once"]}`;
  const who = reply.user === "" ? "you" : reply.user;
  return `${what} by ${who}, ${here ? "here" : "in another window or terminal"}`;
}

const scopes = {
  once: "once",
  turn: "for this turn",
  session: "for this session",
  workspace: "in this workspace",
} as const;

export const stateWords: Record<RequestState, string> = {
  open: "waiting for an answer",
  answered: "answered",
  timeout: "nobody answered in time",
  cancelled: "no longer needed",
};
