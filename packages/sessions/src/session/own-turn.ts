import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { Session } from "./session.ts";

/** First events of a turn that a person starts without a prompt; they tell the model later what it was. @param what e.g. `plan` */
export async function opening(
  { services }: Session,
  { what, turnId, scenario, text }: Readonly<Record<"what" | "turnId" | "scenario" | "text", string>>,
  events: readonly SessionEvent[],
): Promise<readonly SessionEvent[]> {
  return [
    { type: "status", state: "started", iteration: 0 },
    {
      type: "user-message",
      scenario,
      clientTurnId: `${what}-${turnId}`,
      enableThinking: false,
      images: [],
      text: await services.redactor.redact(text),
    },
    ...events,
  ];
}

/** The final text of a turn without a model. */
export function finalText(text: string): SessionEvent {
  return { type: "final", text, thinking: "", inputTokens: 0, outputTokens: 0, modelId: "", maxContextTokens: 0 };
}

/** Waits for the end of a turn; the caller's signal stops it. @param why it is stopped then */
export async function followed(
  { turns, services }: Session,
  { turnId, ended }: { readonly turnId: string; readonly ended: Promise<void> },
  { signal, why }: { readonly signal: AbortSignal; readonly why: string },
): Promise<void> {
  const stop = (): void => void turns.cancel(why, turnId).catch(services.onUnexpectedError);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await ended;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
