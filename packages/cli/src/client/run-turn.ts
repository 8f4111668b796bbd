import type { AgentSession } from "@gennai/client/session/agent-session";
import type { ConnectionChange } from "@gennai/client/session/subscription";
import type { TurnRequest } from "@gennai/client/session/turn";
import type { SessionView } from "@gennai/client/view/session-view";
import { type TurnReport, turnReport } from "@gennai/client/view/turn-report";
import { errorMessage } from "@gennai/protocol/error-message";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type ExitCode, exitCode } from "../terminal/exit-code.ts";
import type { Interrupts } from "../terminal/interrupts.ts";

/** Where a turn is shown. */
export interface TurnView {
  /** What was shown so far came to. */
  readonly session: SessionView;
  show(event: InvokeEvent): void;
  /** Shows a remark of this program, which is not part of the turn. */
  note(text: string): void;
}

/** What asks to stop, see `Interrupts`. */
type StopRequests = Pick<Interrupts, "listen" | "ends" | "interrupt">;

/** Runs a turn to its end. The first interrupt cancels it and waits until the server says that it has stopped. */
export async function runTurn(
  session: AgentSession,
  request: TurnRequest,
  options: { readonly view: TurnView; readonly interrupts: StopRequests; readonly signal: AbortSignal },
): Promise<TurnReport> {
  const { view, signal, interrupts } = options;
  let turnId = "";
  using _listening = interrupts.listen(() => {
    view.note("Stopping … (Ctrl-C again leaves at once)");
    session.cancelTurn(turnId, "Stopped by the user at the terminal.", { signal }).then(
      () => view.note("Stopped."),
      (error: unknown) => notStopped("The turn", error, { view, interrupts }),
    );
  });
  const events = session.runTurn(request, {
    signal,
    maxAttempts: 20,
    onStart: (turn) => (turnId = turn.turnId),
    onConnection: (change) => noteConnection(change, view),
    onProblem: ({ error }) => view.note(`An answer was not taken: ${errorMessage(error)}`),
  });
  for await (const event of events) view.show(event);
  return turnReport(view.session, turnId);
}

/** Says that a stop failed. A program that was told to end does not wait until the server can be reached. */
export function notStopped(
  what: string,
  error: unknown,
  { view, interrupts }: { readonly view: Pick<TurnView, "note">; readonly interrupts: StopRequests },
): void {
  view.note(`${what} could not be stopped: ${errorMessage(error)}`);
  if (interrupts.ends) interrupts.interrupt();
}

export function exitCodeOf(report: TurnReport, interrupted: boolean): ExitCode {
  switch (report.outcome) {
    case "completed":
      return report.refused.length > 0 ? exitCode.refused : exitCode.ok;
    case "cancelled":
      return interrupted ? exitCode.interrupted : exitCode.failed;
    case "error":
      return report.refused.length > 0 ? exitCode.refused : exitCode.failed;
    case "interrupted":
      return exitCode.failed;
  }
}

function noteConnection(change: ConnectionChange, view: TurnView): void {
  if (change.state === "reconnecting" && change.attempt === 1) view.note("The connection broke; trying again …");
}
