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
  const leaving = new AbortController();
  using _listening = interrupts.listen(() => {
    terminal.view.note("Stopping … (Ctrl-C again leaves at once)");
    session.stop("session", "Stopped by the user at the terminal.", { signal: place.signal }).then(
      () => terminal.view.note("Stopped."),
      (error: unknown) => notStopped("It", error, { view: terminal.view, interrupts }),
    );
  });
  const attached = Promise.withResolvers<void>();
  const watching = (async () => {
    try {
      const events = session.follow({
        afterSeq: session.lastSeq,
        signal: AbortSignal.any([place.signal, leaving.signal]),
        onConnection: ({ state }) => {
          if (state === "connected") attached.resolve();
        },
        onProblem: ({ error }) => terminal.view.note(`An answer was not taken: ${errorMessage(error)}`),
      });
      for await (const event of events) terminal.view.show(event);
    } catch (error) {
      if (!leaving.signal.aborted) terminal.view.note(`The session could not be watched: ${errorMessage(error)}`);
    } finally {
      attached.resolve();
    }
  })();
  try {
    // A client that can be asked must be attached before the first question.
    await attached.promise;
    return await work(place.signal);
  } finally {
    leaving.abort();
    await watching;
  }
}
