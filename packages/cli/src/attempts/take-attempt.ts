import { SessionAttempts } from "@gennai/client/attempts";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { type Proposal, proposalFromMessage } from "@gennai/protocol/model/session/proposal";
import type { OfferContext } from "../review/offered-changes.ts";
import { type ReviewFlags, reviewProposal } from "../review/review-proposal.ts";
import { paintFor } from "../terminal/colours.ts";
import { commandName, isTerminal } from "../terminal/console.ts";

export interface TakeFlags extends ReviewFlags {
  readonly ask?: boolean;
  readonly json?: boolean;
}

export interface TakeRequest {
  readonly session: AgentSession;
  readonly attemptsId: string;
  readonly number: number;
}

/**
 * Makes an attempt the session's proposal, and has it reviewed hunk by hunk.
 * @returns paths of what was written, and whether nobody could be asked
 */
export async function takeAttempt(
  { session, attemptsId, number }: TakeRequest,
  flags: TakeFlags,
  { console, signal, lines }: OfferContext,
): Promise<{ readonly taken: readonly string[]; readonly unasked: boolean }> {
  const { input, output, errors, environment } = console;
  const attempts = new SessionAttempts(session.client, session.sessionId);
  const proposal = await proposalOf(session, await attempts.take(attemptsId, number, { signal }), signal);
  const target = flags.json === true ? errors : output;
  const canAsk = flags.ask === true || (isTerminal(input) && isTerminal(errors));
  const reviewed = await reviewProposal(proposal, flags, {
    session,
    signal,
    input: canAsk ? lines() : undefined,
    paint: paintFor(target, environment),
    write: (text) => void target.write(text),
    environment,
  });
  const name = commandName(environment);
  if (reviewed.files.length > 0) target.write(`Undo it: ${name} undo\n`);
  else target.write(`The workspace is as before. To take it later: ${name} attempts take ${number}\n`);
  return { taken: reviewed.files, unasked: reviewed.undecided && !canAsk };
}

/** Reads the proposal from the session's log, which contains it by now. */
async function proposalOf(session: AgentSession, proposalId: string, signal: AbortSignal): Promise<Proposal> {
  for await (const { event } of session.history({ signal })) {
    if (event.case === "proposedChanges" && event.value.proposalId === proposalId)
      return proposalFromMessage(event.value);
  }
  throw new Error("The session has no such proposal.");
}
