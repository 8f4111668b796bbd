import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { Session } from "../../session/session.ts";
import { planRunScenario } from "./inspect-plan.ts";

/** First events of a turn that runs or verifies a plan; they tell the model later what it was. */
export async function opening(
  session: Session,
  turnId: string,
  text: string,
  events: readonly SessionEvent[],
): Promise<readonly SessionEvent[]> {
  return [
    { type: "status", state: "started", iteration: 0 },
    {
      type: "user-message",
      scenario: planRunScenario,
      clientTurnId: `plan-${turnId}`,
      enableThinking: false,
      images: [],
      text: await session.services.redactor.redact(text),
    },
    ...events,
  ];
}

/** Waits for the end of a turn; the caller's signal stops it. */
export async function followed(
  session: Session,
  run: { readonly turnId: string; readonly ended: Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  const stop = (): void =>
    void session.turns.cancel("Stopped by the person who executed the plan.", run.turnId).catch(() => undefined);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await run.ended;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
