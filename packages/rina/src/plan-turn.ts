import { randomUUID } from "node:crypto";
import { endStates, type LoggedEvent } from "@gennai/agent/events/session-event";
import { ServiceError } from "@gennai/machine/service-error";
import { planScenarioName } from "@gennai/protocol/model/governance/plan";
import type { Session } from "@gennai/sessions/session/session";
import { startTurn } from "@gennai/sessions/turn/prepare-turn";

export interface PlanTurnInput {
  readonly text: string;
  /** The editor state sent by the client; empty: none. */
  readonly editor: string;
}

/**
 * Runs one turn of the model in plan mode; resolves with its answer. Cancelled when the signal aborts. Rejects with
 * `ServiceError` if it fails.
 */
export async function planTurn(
  session: Session,
  { text, editor }: PlanTurnInput,
  { signal }: { readonly signal: AbortSignal },
): Promise<string> {
  signal.throwIfAborted();
  const { turnId, afterSeq } = await startTurn(session, {
    text,
    scenario: planScenarioName,
    enableThinking: false,
    images: [],
    clientTurnId: randomUUID(),
    editorContext: { activeFile: "", activeText: "", selection: undefined, openFiles: [], other: editor },
  });
  const cancel = (): void => {
    session.turns.cancel("The client that asked has gone.", turnId).catch(session.services.onUnexpectedError);
  };
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  const stop = new AbortController();
  try {
    const heard: { answer?: string; problem?: string } = {};
    for await (const page of session.services.log.tail(session.id, afterSeq, { signal: stop.signal })) {
      for (const logged of page) {
        if (logged.turnId !== turnId) continue;
        note(logged, heard);
        if (logged.event.type === "status" && endStates.has(logged.event.state))
          return answerOf(logged.event.state, heard);
      }
    }
    throw new ServiceError("unavailable", "The turn's end could not be followed.");
  } finally {
    signal.removeEventListener("abort", cancel);
    stop.abort();
  }
}

function note({ event }: LoggedEvent, heard: { answer?: string; problem?: string }): void {
  if (event.type === "final") heard.answer = event.text;
  if (event.type === "error")
    heard.problem = event.hint === undefined ? event.message : `${event.message} ${event.hint}`;
}

function answerOf(state: string, { answer, problem }: { readonly answer?: string; readonly problem?: string }): string {
  if (state === "completed" && answer !== undefined) return answer;
  throw new ServiceError("unavailable", problem ?? `The turn ended without an answer (${state}).`);
}
