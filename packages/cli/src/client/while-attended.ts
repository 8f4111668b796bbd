import type { AgentSession } from "@gennai/client/session/agent-session";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { AgentDesk } from "./agent-desk.ts";

/** Does something with the session while this desk watches it and answers what the server asks. */
export async function whileAttended<Result>(
  session: AgentSession,
  place: { readonly desk: AgentDesk; readonly interrupts: Interrupts; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { desk, interrupts } = place;
  const leaving = new AbortController();
  using _listening = interrupts.listen(() => {
    desk.view.note("Stopping … (Ctrl-C again leaves at once)");
    session.stop("session", "Stopped by the user at the terminal.", { signal: place.signal }).then(
      () => desk.view.note("Stopped."),
      (error: unknown) =>
        desk.view.note(`It could not be stopped: ${error instanceof Error ? error.message : String(error)}`),
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
        onProblem: ({ error }) =>
          desk.view.note(`An answer was not taken: ${error instanceof Error ? error.message : String(error)}`),
      });
      for await (const event of events) desk.view.show(event);
    } catch (error) {
      if (!leaving.signal.aborted)
        desk.view.note(`The session could not be watched: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      attached.resolve();
    }
  })();
  try {
    // Whoever shall be asked must be there before the first question.
    await attached.promise;
    return await work(place.signal);
  } finally {
    leaving.abort();
    await watching;
  }
}
