import type { Session } from "../../session/session.ts";
import type { StartedTurn } from "../../session/turns/session-turns.ts";
import { prepareTurn, type TurnInput } from "./prepare-turn.ts";

/** Starts the turn of a prompt, once for each `clientTurnId`. Resolves when its start is durable. */
export function startTurn(
  session: Session,
  input: TurnInput,
): Promise<StartedTurn & { readonly alreadyStarted: boolean }> {
  return session.turns.startOnce(input.clientTurnId, (turnId, signal) =>
    prepareTurn(session, { ...input, turnId }, signal),
  );
}
