import type { AgentSession, CutOffTurn } from "@gennai/client/session/agent-session";
import type { ConnectionChange } from "@gennai/client/session/subscription";
import type { TurnRequest } from "@gennai/client/session/turn";
import { type TurnOutcome, turnOutcome } from "@gennai/client/session/turn-state";
import { errorMessage } from "@gennai/protocol/error-message";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { FailureClass } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { type Proposal, proposalFromMessage } from "@gennai/protocol/model/session/proposal";
import { type ExitCode, exitCode } from "../exit-code.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import { addUsage, nothingUsed, type TurnUsage } from "./turn-usage.ts";

/** Where a turn is shown. */
export interface TurnView {
  show(event: InvokeEvent): void;
  /** Shows a remark of this program, which is not part of the turn. */
  note(text: string): void;
}

/** The result of a turn. */
export interface TurnReport {
  readonly turnId: string;
  readonly outcome: TurnOutcome;
  /** The model's final text. */
  readonly text: string;
  readonly changedFiles: readonly string[];
  /** True if commands changed some of them: such changes are only taken back with the whole turn. */
  readonly commandsChangedFiles: boolean;
  readonly proposals: readonly Proposal[];
  /** Tools that were refused and not let through later in the turn. */
  readonly refused: readonly string[];
  readonly usage: TurnUsage;
  /** Set when the server went away during the turn, and another turn can go on with it. */
  readonly cutOff: CutOffTurn | undefined;
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
  const fold = new TurnFold();
  const events = session.runTurn(request, {
    signal,
    maxAttempts: 20,
    onStart: (turn) => (turnId = turn.turnId),
    onConnection: (change) => noteConnection(change, view),
    onProblem: ({ error }) => view.note(`An answer was not taken: ${errorMessage(error)}`),
  });
  for await (const event of events) {
    if (event.turnId === turnId) fold.add(event);
    view.show(event);
  }
  return fold.report(turnId);
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

class TurnFold {
  readonly #toolNames = new Map<string, string>();
  readonly #refused = new Set<string>();
  readonly #changedFiles = new Set<string>();
  readonly #changedByCommands = new Set<string>();
  readonly #proposals: Proposal[] = [];
  #outcome: TurnOutcome | undefined;
  #text = "";
  #usage = nothingUsed;
  #cutOff: CutOffTurn | undefined;

  add(event: InvokeEvent): void {
    const body = event.event;
    this.#outcome = turnOutcome(event) ?? this.#outcome;
    if (body.case === "toolCall") this.#toolNames.set(body.value.id, body.value.name);
    else if (body.case === "error" && event.errorInfo?.canContinue === true) {
      const waited = event.errorInfo.code === "interrupted_waiting";
      this.#cutOff = { turnId: event.turnId, message: body.value, waited };
    } else if (body.case === "usage") this.#usage = addUsage(this.#usage, body.value, event.parentToolCallId);
    else if (body.case === "final") this.#text = body.value.text;
    else if (body.case === "proposedChanges") this.#proposals.push(proposalFromMessage(body.value));
    else if (body.case === "changeSetApplied") for (const { path } of body.value.files) this.#changedFiles.add(path);
    else if (body.case === "checkpointClosed")
      for (const { path } of body.value.files) this.#changedByCommands.add(path);
    else if (body.case === "toolResult") {
      const name = this.#toolNames.get(body.value.id) ?? body.value.id;
      // Also for a command that succeeded, although a connection was refused to it.
      if (body.value.failureClass === FailureClass.PERMISSION_DENIED) this.#refused.add(name);
      else if (body.value.error === "") this.#refused.delete(name);
    }
  }

  report(turnId: string): TurnReport {
    return {
      turnId,
      // A stream that ends without the last status belongs to a turn the server no longer runs.
      outcome: this.#outcome ?? "interrupted",
      text: this.#text,
      changedFiles: [...this.#changedFiles.union(this.#changedByCommands)],
      commandsChangedFiles: this.#changedByCommands.size > 0,
      proposals: this.#proposals,
      refused: [...this.#refused],
      usage: this.#usage,
      cutOff: this.#cutOff,
    };
  }
}

function noteConnection(change: ConnectionChange, view: TurnView): void {
  if (change.state === "reconnecting" && change.attempt === 1) view.note("The connection broke; trying again …");
}
