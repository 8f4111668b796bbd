import { SessionAttempts } from "@gennai/client/attempts";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { type Proposal, proposalFromMessage } from "@gennai/protocol/model/session/proposal";
import type { OfferContext } from "../review/offered-changes.ts";
import { reviewProposal } from "../review/review-proposal.ts";
import { paintFor } from "../terminal/colours.ts";
import { commandName, isTerminal } from "../terminal/console.ts";

export interface ProposeAttemptRequest {
  readonly session: AgentSession;
  readonly attemptsId: string;
  readonly number: number;
  readonly flags: {
    readonly yes?: boolean;
    readonly ask?: boolean;
    readonly keep?: readonly string[];
    readonly refuse?: readonly string[];
  };
  readonly json: boolean;
}

/** Makes an attempt the session's proposal, and has it reviewed hunk by hunk. */
export async function proposeAttempt(
  { session, attemptsId, number, flags, json }: ProposeAttemptRequest,
  { console, signal, lines }: OfferContext,
): Promise<{ readonly taken: readonly string[]; readonly unasked: boolean }> {
  const { input, output, errors, environment } = console;
  const attempts = new SessionAttempts(session.client, session.sessionId);
  const proposal = await proposalOf(session, await attempts.take(attemptsId, number, { signal }), signal);
  const target = json ? errors : output;
  const canAsk = flags.ask === true || (isTerminal(input) && isTerminal(errors));
  const reviewed = await reviewProposal(proposal, {
    session,
    signal,
    input: canAsk ? lines() : undefined,
    paint: paintFor(target, environment),
    selection: { keep: flags.keep ?? [], refuse: flags.refuse ?? [] },
    keepAll: flags.yes === true,
    write: (text) => void target.write(text),
    environment,
  });
  if (reviewed.undecided)
    target.write(`It waits for review in session ${session.sessionId}: ${commandName(environment)} serve --open\n`);
  return { taken: reviewed.files, unasked: reviewed.undecided };
}

/** Reads the proposal from the session's log, which contains it by now. */
async function proposalOf(session: AgentSession, proposalId: string, signal: AbortSignal): Promise<Proposal> {
  for await (const { event } of session.follow({ afterSeq: 0n, signal })) {
    if (event.case === "proposedChanges" && event.value.proposalId === proposalId)
      return proposalFromMessage(event.value);
  }
  throw new Error("The session has no such proposal.");
}
