import type { AgentSession } from "@gennai/client/session/agent-session";
import { errorMessage } from "@gennai/protocol/error-message";
import type { Interrupts } from "../terminal/interrupts.ts";
import { notStopped } from "./run-turn.ts";
import type { UserTerminal } from "./user-terminal.ts";

/** Runs `work` while this terminal watches the session and answers what the server asks. */
export async function whileAttended<Result>(
  session: AgentSession,
  place: { readonly terminal: UserTerminal; readonly interrupts: Interrupts; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { terminal, interrupts } = place;
  using _listening = interrupts.listen(() => {
    terminal.view.note("Stopping … (Ctrl-C again leaves at once)");
    session.stop("session", "Stopped by the user at the terminal.", { signal: place.signal }).then(
      () => terminal.view.note("Stopped."),
      (error: unknown) => notStopped("It", error, { view: terminal.view, interrupts }),
    );
  });
  return await session.whileAttached(() => work(place.signal), {
    signal: place.signal,
    onEvent: (event) => terminal.view.show(event),
    onProblem: ({ error }) => terminal.view.note(`An answer was not taken: ${errorMessage(error)}`),
    onBroken: (error) => terminal.view.note(`The session could not be watched: ${errorMessage(error)}`),
  });
}
